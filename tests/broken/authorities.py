"""An authority made on the spot, and the certificates that it issues, for servers of the tests."""

import datetime as dt
import ipaddress
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import AuthorityInformationAccessOID, NameOID


def _name(text):
    return x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, text)])


def _alternative(host):
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


class Authority:
    """A private authority.

    Attributes:
        file: Its certificate, as SSL_CERT_FILE wants it.
    """

    def __init__(self, folder, name="Lunch Root"):
        self._folder = folder
        self._name = _name(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        own = self._built(self._name, self._key, days=3650).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self.file = folder / "authority.pem"
        self.file.write_bytes(own.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def _built(self, subject, key, *, days, since=-30):
        now = dt.datetime.now(dt.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + dt.timedelta(days=since))
            .not_valid_after(now + dt.timedelta(days=days))
        )

    def issue(self, host="127.0.0.1", *, days=200, since=-30, issuer_url=""):
        """The settings of a server with a certificate for a host.

        Args:
            host: A name or an address.
            days: Until when it is valid, in days from now.
            since: From when, likewise.
            issuer_url: Where it says that its issuer's certificate is to be had.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        built = self._built(_name("a server"), key, days=days, since=since).add_extension(
            x509.SubjectAlternativeName([_alternative(host)]), critical=False
        )
        if issuer_url:
            access = x509.AccessDescription(
                AuthorityInformationAccessOID.CA_ISSUERS, x509.UniformResourceIdentifier(issuer_url)
            )
            built = built.add_extension(x509.AuthorityInformationAccess([access]), critical=False)
        certificate = built.sign(self._key, hashes.SHA256())
        secret = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        file = self._folder / f"{certificate.serial_number}.pem"
        file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + secret)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context
