package io.github.attestry;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A server that returns the given replies in turn, and the last one again. */
final class TestServer implements AutoCloseable {
    /** A response; a status of 0 breaks the connection. */
    record Reply(int status, String retryAfter, String body) {
    }

    /** A request as it was received; header names are in lower case. */
    record Received(String method, String target, Map<String, String> headers, String body) {
    }

    static final String KEY_ID = "VFN_TEST_EXAMPLE";
    static final String SECRET = "VFN_SK_example";

    final List<Received> requests = new ArrayList<>();
    final List<Duration> waits = new ArrayList<>();
    final AttestryClient client;
    private final HttpServer server;

    TestServer(Reply... replies) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            var headers = new HashMap<String, String>();
            exchange.getRequestHeaders().forEach((name, values) -> headers.put(name.toLowerCase(), values.get(0)));
            var body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            var reply = replies[Math.min(requests.size(), replies.length - 1)];
            requests.add(new Received(exchange.getRequestMethod(), exchange.getRequestURI().toString(), headers, body));
            if (reply.status() != 0) {
                exchange.getResponseHeaders().set("x-request-id", "r-1");
                if (reply.retryAfter() != null) exchange.getResponseHeaders().set("Retry-After", reply.retryAfter());
                var bytes = reply.body().getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(reply.status(), bytes.length == 0 ? -1 : bytes.length);
                exchange.getResponseBody().write(bytes);
            }
            exchange.close();
        });
        server.start();
        client = new AttestryClient.Builder(Map.of()).baseUrl("http://127.0.0.1:" + server.getAddress().getPort() + "/")
                .keyId(KEY_ID).secret(SECRET).sleeper(waits::add).build();
    }

    static Reply success(String data) {
        return new Reply(200, null, "{\"success\":true,\"data\":" + data + "}");
    }

    static Reply status(int status) {
        return new Reply(status, null, "");
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
