from mesero.doctor.programs import (
    find_elsewhere,
    find_shim,
    find_similar,
    missing_folders,
    secrets_in,
    secrets_in_words,
    unexpanded_in,
)


def executable(place):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("#!/bin/sh\n")
    place.chmod(0o755)
    return str(place)


def test_the_newest_version_of_a_version_manager_is_found(tmp_path):
    executable(tmp_path / ".nvm/versions/node/v18.0.0/bin/some-npx")
    newest = executable(tmp_path / ".nvm/versions/node/v22.0.0/bin/some-npx")

    assert find_elsewhere("some-npx", tmp_path, path=str(tmp_path)) == newest


def test_a_file_that_cannot_be_run_is_not_taken(tmp_path):
    executable(tmp_path / ".local/bin/some-uvx")
    (tmp_path / ".local/bin/some-uvx").chmod(0o644)

    assert find_elsewhere("some-uvx", tmp_path, path=str(tmp_path)) is None


def test_a_shim_is_found_by_its_ending(tmp_path):
    (tmp_path / "npx.cmd").write_text("")

    assert find_shim("npx", f"/nowhere:{tmp_path}") == str(tmp_path / "npx.cmd")
    assert find_shim("npm", str(tmp_path)) is None


def test_folders_that_every_path_has_are_missed(tmp_path):
    assert "/bin" in missing_folders(str(tmp_path))
    assert missing_folders("/usr/bin:/bin") == []


def test_unfilled_variables_are_found_without_telling_the_values():
    found = unexpanded_in(["--key=${KEY}", "$HOME"], {"A": "secret", "B": "Bearer secret ${TOKEN}"})

    assert len(found) == 2
    assert "secret" not in "".join(found)


def test_what_is_no_secret_may_be_shown():
    assert secrets_in({"PATH": "/usr/bin:/bin", "DEBUG": "1", "KEY": "${KEY_FROM_ENV}"}) == []
    assert (
        secrets_in({"KEY": "<YOUR_TOKEN>", "B": "$KEY_OF_SHELL", "Authorization": "Bearer YOUR_API_KEY"})
        == []
    )
    assert secrets_in({"PASSWORD": "mypassword", "DSN": "postgres://$USER:pw@db"}) == [
        *("mypassword", "postgres://$USER:pw@db"),
    ]
    assert secrets_in({"Authorization": "Bearer 0123456789"}) == [
        *("Bearer 0123456789", "0123456789"),
    ]


def test_a_program_of_nearly_that_name_is_found(tmp_path):
    (tmp_path / "python3-here").write_text("")

    assert find_similar("python-here", f"{tmp_path / 'nowhere'}:{tmp_path}") == "python3-here"
    assert find_similar("entirely-different", str(tmp_path)) is None


def test_secrets_in_a_command_line_are_known_by_their_shape_or_their_option():
    words = [
        "npx",
        "--token",
        "0123456789",
        "--name",
        "notes",
        "--key",
        "--other",
        "sk-ant-api03-0123456789abcdef",
    ]

    assert secrets_in_words(words) == ["0123456789", "sk-ant-api03-0123456789abcdef"]
    assert secrets_in_words(["--token", "${TOKEN_OF_MINE}"]) == []
