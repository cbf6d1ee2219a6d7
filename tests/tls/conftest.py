import datetime
import types

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


@pytest.fixture
def self_signed(tmp_path):
    """Makes what trustme does not: a certificate that vouches for itself, for any name, and its PEM file."""

    def make(name):
        key = ec.generate_private_key(ec.SECP256R1())
        itself = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "itself")])
        now = datetime.datetime.now(datetime.timezone.utc)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(itself)
            .issuer_name(itself)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(hours=1))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .sign(key, hashes.SHA256())
        )
        public = tmp_path / "certificate.pem"
        public.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        private = tmp_path / "key.pem"
        private.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        held = types.SimpleNamespace(configure_cert=lambda context: context.load_cert_chain(public, private))
        return held, public

    return make
