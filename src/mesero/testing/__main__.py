"""``python -m mesero.testing``: the echo server over stdio, for checks of transports."""

from mesero.testing.echo import echo_server

if __name__ == "__main__":
    echo_server().run()
