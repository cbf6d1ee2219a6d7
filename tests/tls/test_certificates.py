"""The HTTP client against TLS servers of Python's ssl module, with certificates made by trustme."""

import datetime
import json
import os
import socket
import ssl
import subprocess
import threading
import time

import pytest
import trustme

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
HOUR = datetime.timedelta(hours=1)


def required(variable):
    value = os.environ.get(variable)
    if not value:
        pytest.exit(f"{variable} is not set; run these tests with `scripts/test tls`", returncode=2)
    return value


class Server:
    """Accepts connections on a free loopback port and hands each to `serve` in a thread of its own."""

    def __init__(self, serve):
        self.serve = serve
        self.connections = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.guarded, args=(connection,), daemon=True).start()

    def guarded(self, connection):
        with connection:
            try:
                self.serve(connection)
            except OSError:
                pass  # The client refused, which is what most tests want.


class TlsServer(Server):
    """Answers every request with ANSWER, or with `answer`, after which it closes without TLS's goodbye."""

    def __init__(self, certificate, answer=None, minimum=None, maximum=None):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if minimum:
            self.context.set_ciphers("ALL:@SECLEVEL=0")
            self.context.minimum_version = minimum
        if maximum:
            self.context.maximum_version = maximum
        certificate.configure_cert(self.context)
        self.context.sni_callback = lambda _, name, __: self.names.append(name)
        self.answer = answer
        self.names = []
        self.versions = []
        self.requests = []
        super().__init__(self.speak)

    def speak(self, connection):
        with self.context.wrap_socket(connection, server_side=True, suppress_ragged_eofs=True) as stream:
            self.versions.append(stream.version())
            while request := stream.recv(65536):
                self.requests.append(request)
                stream.sendall(self.answer or ANSWER)
                if self.answer:
                    return


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return trustme.CA()


@pytest.fixture(scope="module")
def ca_file(authority, tmp_path_factory):
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return path


@pytest.fixture
def start():
    started = []

    def run(server):
        started.append(server)
        return server

    yield run
    for server in started:
        server.listener.close()


def fetch(server, *options, host="127.0.0.1", scheme="https"):
    command = [required("EVALCORE_FETCH"), *map(str, options), f"{scheme}://{host}:{server.port}/v1/models"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def refusal(server, *options, **how):
    (outcome,) = fetch(server, *options, **how)
    assert (outcome["code"], outcome["stage"], outcome["status"]) == ("transport", "connect", 0)
    return outcome["message"]


def accepted(outcomes):
    good = {"code": "ok", "stage": "", "status": 200, "bytes": 2, "message": ""}
    return all(one == good for one in outcomes)


def test_a_private_authority_is_accepted_and_the_connection_is_kept(authority, ca_file, start):
    server = start(TlsServer(authority.issue_cert("127.0.0.1")))
    outcomes = fetch(server, "--ca-file", ca_file, "--times", 5)
    assert len(outcomes) == 5 and accepted(outcomes)
    assert server.connections == 1
    assert len(server.requests) == 5
    assert server.requests[0].startswith(b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:")


def test_the_name_that_the_server_sees_is_the_host(authority, ca_file, start):
    server = start(TlsServer(authority.issue_cert("localhost")))
    assert accepted(fetch(server, "--ca-file", ca_file, host="LocalHost"))
    assert server.names == ["localhost"]


@pytest.mark.parametrize(
    "certified, configured, sent",
    [
        ("model.example", "model.example", "model.example"),
        ("model.example", "model.example.", "model.example"),  # RFC 6066, section 3: without the last dot.
        ("*.models.example", "one.models.example", "one.models.example"),
    ],
)
def test_the_configured_name_is_sent_and_expected(authority, ca_file, start, certified, configured, sent):
    server = start(TlsServer(authority.issue_cert(certified)))
    assert accepted(fetch(server, "--ca-file", ca_file, "--server-name", configured))
    assert server.names == [sent]


@pytest.mark.parametrize(
    "certified, configured",
    [
        ("other.example", "model.example"),
        ("my-model.example", "my_model.example"),
        ("*.models.example", "a.b.models.example"),
        ("*.models.example", "models.example"),
        ("example", "model.example"),
        ("127.0.0.2", "127.0.0.1"),
    ],
)
def test_a_certificate_for_another_name_is_refused(authority, ca_file, start, certified, configured):
    server = start(TlsServer(authority.issue_cert(certified)))
    message = refusal(server, "--ca-file", ca_file, "--server-name", configured)
    assert message == (
        f"the certificate of 127.0.0.1:{server.port} is not for {configured}; "
        "use a name that it holds, in the URL or as the TLS server name"
    )
    assert server.requests == []


def test_the_common_name_is_no_name_of_the_server(authority, ca_file, start):
    server = start(TlsServer(authority.issue_cert("other.example", common_name="model.example")))
    assert "is not for model.example" in refusal(
        server, "--ca-file", ca_file, "--server-name", "model.example"
    )


@pytest.mark.parametrize("name", [".", ".example"])
def test_a_name_that_would_match_others_is_no_name(authority, ca_file, start, name):
    server = start(TlsServer(authority.issue_cert("model.example")))
    (outcome,) = fetch(server, "--ca-file", ca_file, "--server-name", name)
    assert (outcome["code"], outcome["stage"]) == ("invalid_argument", "config")
    assert server.connections == 0


def test_an_expired_certificate_is_refused(authority, ca_file, start):
    past = datetime.datetime.now(datetime.timezone.utc) - HOUR
    server = start(TlsServer(authority.issue_cert("127.0.0.1", not_before=past - HOUR, not_after=past)))
    message = refusal(server, "--ca-file", ca_file)
    assert message.startswith(f"the certificate of 127.0.0.1:{server.port} has expired; ")
    assert server.requests == []


def test_a_certificate_of_tomorrow_is_refused(authority, ca_file, start):
    future = datetime.datetime.now(datetime.timezone.utc) + HOUR
    server = start(TlsServer(authority.issue_cert("127.0.0.1", not_before=future)))
    assert "is not valid yet" in refusal(server, "--ca-file", ca_file)


def test_an_unknown_authority_is_refused(authority, ca_file, start):
    server = start(TlsServer(trustme.CA().issue_cert("127.0.0.1")))
    message = refusal(server, "--ca-file", ca_file)
    assert f"is from an authority that is not in the CA file {ca_file}" in message
    known_to_none = start(TlsServer(authority.issue_cert("127.0.0.1")))
    assert "is from an authority that is not in the system's authorities" in refusal(known_to_none)
    assert server.requests == known_to_none.requests == []


def test_a_self_signed_certificate_is_refused_unless_it_is_given(start, self_signed):
    certificate, path = self_signed("localhost")
    server = start(TlsServer(certificate))
    assert "is self-signed and not in the system's authorities" in refusal(server, host="localhost")
    assert server.requests == []
    assert accepted(fetch(server, "--ca-file", path, host="localhost"))


def test_an_underscore_in_the_name_stays(start, self_signed):
    certificate, path = self_signed("my_model.example")
    server = start(TlsServer(certificate))
    assert accepted(fetch(server, "--ca-file", path, "--server-name", "my_model.example"))
    assert server.names == ["my_model.example"]
    assert "is not for my-model.example" in refusal(
        server, "--ca-file", path, "--server-name", "my-model.example"
    )


def test_an_intermediate_authority_can_be_trusted_alone(start, authority, tmp_path):
    child = authority.create_child_ca()
    child.cert_pem.write_to_path(tmp_path / "child.pem")
    server = start(TlsServer(child.issue_cert("127.0.0.1")))
    assert accepted(fetch(server, "--ca-file", tmp_path / "child.pem"))
    stranger = start(TlsServer(authority.issue_cert("127.0.0.1")))
    assert "is from an authority" in refusal(stranger, "--ca-file", tmp_path / "child.pem")


def test_without_verification_anybody_is_accepted(start):
    past = datetime.datetime.now(datetime.timezone.utc) - HOUR
    certificate = trustme.CA().issue_cert("other.example", not_before=past - HOUR, not_after=past)
    assert accepted(fetch(start(TlsServer(certificate)), "--insecure"))


def test_large_bodies_pass_in_both_directions(authority, ca_file, start):
    size = 20_000_000
    echo = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + b"y" * size
    server = start(TlsServer(authority.issue_cert("127.0.0.1")))
    taken = []

    def swallow(connection):
        with server.context.wrap_socket(connection, server_side=True) as stream:
            head, _, body = stream.recv(65536).partition(b"\r\n\r\n")
            assert b"Content-Length: %d" % size in head
            seen = len(body)
            while seen < size:
                seen += len(stream.recv(65536))
            taken.append(seen)
            stream.sendall(echo)

    server.serve = swallow
    (outcome,) = fetch(server, "--ca-file", ca_file, "--post", size)
    assert (outcome["code"], outcome["bytes"]) == ("ok", size)
    assert taken == [size]


def test_an_answer_may_come_while_the_request_is_still_written(authority, ca_file, start):
    server = start(TlsServer(authority.issue_cert("127.0.0.1")))

    def refuse(connection):
        with server.context.wrap_socket(connection, server_side=True) as stream:
            stream.recv(1)
            stream.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
            time.sleep(0.2)

    server.serve = refuse
    (outcome,) = fetch(server, "--ca-file", ca_file, "--post", 20_000_000)
    assert (outcome["code"], outcome["status"], outcome["bytes"]) == ("ok", 413, 3)


@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_a_ca_file_that_holds_none_is_named(authority, start, tmp_path, content):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    server = start(TlsServer(authority.issue_cert("127.0.0.1")))
    (outcome,) = fetch(server, "--ca-file", path)
    assert (outcome["code"], outcome["stage"]) == ("invalid_argument", "config")
    assert outcome["message"] == f"no certificate in PEM form can be read from {path}"
    assert server.connections == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tls_older_than_1_2_is_refused(authority, ca_file, start):
    old = ssl.TLSVersion.TLSv1
    server = start(TlsServer(authority.issue_cert("127.0.0.1"), minimum=old, maximum=ssl.TLSVersion.TLSv1_1))
    assert "does not speak TLS 1.2 or newer" in refusal(server, "--ca-file", ca_file)


def test_tls_1_2_is_accepted(authority, ca_file, start):
    server = start(TlsServer(authority.issue_cert("127.0.0.1"), maximum=ssl.TLSVersion.TLSv1_2))
    outcomes = fetch(server, "--ca-file", ca_file, "--times", 3)
    assert accepted(outcomes)
    assert server.versions == ["TLSv1.2"]


def test_a_server_that_hangs_up_in_the_handshake_is_named(start):
    server = start(Server(lambda connection: connection.recv(1)))
    assert refusal(server) == (
        f"127.0.0.1:{server.port} closed the connection during the TLS handshake; "
        "does it speak TLS on this port?"
    )


def test_plain_http_on_the_port_is_named(start):
    bad_request = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    def serve(connection):
        connection.recv(65536)
        connection.sendall(bad_request)

    server = start(Server(serve))
    assert refusal(server) == f"127.0.0.1:{server.port} does not answer in TLS; is it an http:// server?"


def test_plain_http_to_a_tls_port_is_an_error(authority, start):
    server = start(TlsServer(authority.issue_cert("127.0.0.1")))
    (outcome,) = fetch(server, scheme="http")
    assert outcome["code"] in ("transport", "bad_reply")
    assert outcome["status"] == 0


def test_the_connect_deadline_covers_the_handshake(start):
    server = start(Server(lambda connection: time.sleep(10)))
    begun = time.monotonic()
    (outcome,) = fetch(server, "--connect-ms", 200)
    assert time.monotonic() - begun < 5
    assert (outcome["code"], outcome["stage"]) == ("timeout", "connect")
    assert outcome["message"] == f"no connection to 127.0.0.1:{server.port} within 0.2 s (connect deadline)"


def test_an_answer_that_ends_with_the_connection_needs_the_goodbye(authority, ca_file, start):
    whole = start(TlsServer(authority.issue_cert("127.0.0.1"), answer=b"HTTP/1.1 200 OK\r\n\r\nall of it"))
    (cut,) = fetch(whole, "--ca-file", ca_file)
    assert (cut["code"], cut["stage"], cut["status"]) == ("truncated", "body", 200)
    with_length = start(
        TlsServer(authority.issue_cert("127.0.0.1"), answer=b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    )
    assert accepted(fetch(with_length, "--ca-file", ca_file))
