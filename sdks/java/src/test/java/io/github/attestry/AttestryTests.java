package io.github.attestry;

import static io.github.attestry.TestServer.KEY_ID;
import static io.github.attestry.TestServer.SECRET;
import static io.github.attestry.TestServer.status;
import static io.github.attestry.TestServer.success;

import io.github.attestry.TestServer.Reply;
import io.github.attestry.internal.Json;
import io.github.attestry.model.CampaignInput;
import io.github.attestry.model.LocationsListParams;
import io.github.attestry.model.MandateInput;
import io.github.attestry.model.MandateSkill;
import io.github.attestry.model.MandateStatus;
import io.github.attestry.model.MandatesListParams;
import io.github.attestry.model.Result;
import io.github.attestry.model.ResultStatus;
import io.github.attestry.model.SelectedSkillInput;
import io.github.attestry.model.SkillLookupInput;
import io.github.attestry.model.VerificationSessionInput;
import io.github.attestry.model.WorkflowInput;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** Tests without a test library. The first argument is the path of vectors.json; default: ../vectors.json. */
public final class AttestryTests {
    private interface Test {
        void run() throws Exception;
    }

    private static Map<?, ?> vectors;

    public static void main(String[] arguments) throws Exception {
        var path = Path.of(arguments.length > 0 ? arguments[0] : "../vectors.json");
        vectors = (Map<?, ?>) Json.parse(Files.readString(path));
        var tests = new LinkedHashMap<String, Test>();
        tests.put("signatures match the vectors", AttestryTests::requestVectors);
        tests.put("deliveries are verified as in the vectors", AttestryTests::webhookVectors);
        tests.put("a signed delivery can be verified, and its data has a type", AttestryTests::signedWebhook);
        tests.put("JSON is read and written", AttestryTests::json);
        tests.put("requests are signed", AttestryTests::signedRequest);
        tests.put("queries are signed as sent", AttestryTests::signedQuery);
        tests.put("a write is retried with the same idempotency key", AttestryTests::retriedWrite);
        tests.put("any call is retried after Retry-After", AttestryTests::retryAfter);
        tests.put("other rejections are not retried", AttestryTests::otherRejections);
        tests.put("a POST without an idempotency key is not repeated", AttestryTests::postWithoutKey);
        tests.put("errors of the three APIs have their fields", AttestryTests::errors);
        tests.put("lists are read page by page", AttestryTests::lists);
        tests.put("a session token is sent without a key", AttestryTests::sessionToken);
        tests.put("a missing or malformed setting is named", AttestryTests::settings);
        tests.put("an empty ID is rejected", AttestryTests::emptyIds);
        tests.put("an unreachable server is named", AttestryTests::unreachableServer);
        tests.put("an untyped call returns the data", AttestryTests::untypedCall);
        tests.put("a builder names a missing value", AttestryTests::builders);
        var failures = 0;
        for (var test : tests.entrySet()) {
            try {
                test.getValue().run();
                System.out.println("ok   " + test.getKey());
            } catch (Exception | AssertionError failure) {
                failures++;
                System.out.println("FAIL " + test.getKey());
                failure.printStackTrace(System.out);
            }
        }
        System.out.println(tests.size() - failures + " of " + tests.size() + " tests passed");
        if (failures > 0) System.exit(1);
    }

    private static void requestVectors() {
        for (var item : (List<?>) vectors.get("requests")) {
            var vector = (Map<?, ?>) item;
            var input = new Signature.Input((Long) vector.get("timestamp"), text(vector, "method"), text(vector, "target"),
                    text(vector, "on_behalf_of"), text(vector, "idempotency_key"), bytes(text(vector, "body")));
            same(text(vector, "lines"), Signature.linesToSign(input), text(vector, "name"));
            same(text(vector, "signature"), Signature.sign(text(vector, "secret"), input), text(vector, "name"));
        }
    }

    private static void webhookVectors() {
        for (var item : (List<?>) vectors.get("webhooks")) {
            var vector = (Map<?, ?>) item;
            var headers = new HashMap<String, List<String>>();
            ((Map<?, ?>) vector.get("headers")).forEach((name, value) -> headers.put((String) name, List.of((String) value)));
            Test verify = () -> Webhooks.verify(bytes(text(vector, "body")), headers, text(vector, "secret"),
                    Webhooks.DEFAULT_TOLERANCE, Instant.ofEpochSecond((Long) vector.get("now")));
            if (vector.get("valid").equals(true)) run(verify, text(vector, "name"));
            else thrown(WebhookVerificationException.class, verify, text(vector, "name"));
        }
    }

    private static void signedWebhook() {
        var secret = "whsec_ZXhhbXBsZSB3ZWJob29rIHNlY3JldCBmb3IgdmVjdG9ycyBvbmx5";
        var body = bytes("{\"event_id\":\"EV_1\",\"type\":\"result.completed\",\"mode\":\"test\",\"sequence\":7,"
                + "\"data\":{\"result_id\":\"RS_1\",\"status\":\"completed\",\"candidate\":{\"name\":\"आशा\"}}}");
        var headers = Webhooks.sign(body, "EV_1", secret, Instant.now());
        var event = Webhooks.verify(body, headers, secret);
        if (!(event.decodeData() instanceof Result result)) throw new AssertionError("the data is not a Result");
        same(List.of("RS_1", ResultStatus.COMPLETED, "आशा"),
                List.of(result.resultId(), result.status(), result.candidate().name()), "data");
        var unknown = bytes(new String(body, StandardCharsets.UTF_8).replace("result.completed", "something.new"));
        var data = Webhooks.verify(unknown, Webhooks.sign(unknown, "EV_1", secret, Instant.now()), secret).decodeData();
        same("RS_1", ((Map<?, ?>) data).get("result_id"), "data of an unknown type");
        for (var malformed : List.of("", "whsec_", "whsec_***")) {
            thrown(ConfigurationException.class, () -> Webhooks.verify(body, headers, malformed), malformed);
        }
    }

    private static void json() {
        var text = "{\"a\":[1,-2.5,1e3,true,false,null,\"\\u00e9\\n\\\\ \uD83D\uDE00\"],\"b\":{},\"c\":[]}";
        var value = (Map<?, ?>) Json.parse(" " + text + "\n");
        same(List.of(1L, -2.5, 1000.0), ((List<?>) value.get("a")).subList(0, 3), "numbers");
        same("é\n\\ \uD83D\uDE00", ((List<?>) value.get("a")).get(6), "string");
        same(value, Json.parse(Json.write(value)), "round trip");
        same("\"\\ud83d\\u0001\\\"\"", Json.write("\uD83D\u0001\""), "escapes");
        for (var malformed : List.of("", "{", "[1,]", "{\"a\"}", "01", "tru", "\"\n\"", "\"\\x\"", "\"\\u12\"", "1 2", "[".repeat(300))) {
            thrown(AttestryException.class, () -> Json.parse(malformed), malformed);
        }
    }

    private static void signedRequest() throws Exception {
        try (var server = new TestServer(success("{\"mandate_id\":\"JM_1\",\"status\":\"preparing\",\"new_field\":1}"))) {
            var input = MandateInput.builder().workflowId("WF_1").title("राजमिस्त्री").companyName("A & B")
                    .skills(MandateSkill.builder().skillId("sk_1").verify(true).build()).build();
            var result = server.client.mandates().create(input, RequestOptions.NONE.onBehalfOf("asha@example.com"));
            same(List.of("JM_1", MandateStatus.PREPARING), List.of(result.mandateId(), result.status()), "result");
            var request = server.requests.get(0);
            same("{\"workflow_id\":\"WF_1\",\"title\":\"राजमिस्त्री\",\"company_name\":\"A & B\","
                    + "\"skills\":[{\"skill_id\":\"sk_1\",\"verify\":true}]}", request.body(), "body");
            var key = request.headers().get("idempotency-key");
            same(36, key.length(), "length of the idempotency key");
            var timestamp = Long.parseLong(request.headers().get("x-timestamp"));
            same(Signature.sign(SECRET, new Signature.Input(timestamp, "POST", "/api/v1/partner/mandates",
                    "asha@example.com", key, bytes(request.body()))), request.headers().get("x-signature"), "signature");
            same(List.of(KEY_ID, "asha@example.com"),
                    List.of(request.headers().get("x-api-key"), request.headers().get("x-on-behalf-of")), "headers");
        }
    }

    private static void signedQuery() throws Exception {
        try (var server = new TestServer(success("{\"items\":[],\"next_cursor\":null}"))) {
            server.client.locations().list(LocationsListParams.builder().q("new delhi & नई+").limit(10).build());
            var request = server.requests.get(0);
            same("/api/v1/partner/locations?q=new%20delhi%20%26%20%E0%A4%A8%E0%A4%88%2B&limit=10", request.target(), "target");
            var timestamp = Long.parseLong(request.headers().get("x-timestamp"));
            same(Signature.sign(SECRET, new Signature.Input(timestamp, "GET", request.target(), null, null, null)),
                    request.headers().get("x-signature"), "signature");
            same(null, request.headers().get("idempotency-key"), "idempotency key of a read");
        }
    }

    private static void retriedWrite() throws Exception {
        try (var server = new TestServer(status(0), status(502), success("{\"campaign\":{\"campaign_id\":\"CP_1\"}}"))) {
            var result = server.client.campaigns().create(CampaignInput.builder().mandateId("JM_1").build());
            same("CP_1", result.campaign().campaignId(), "campaign");
            var keys = server.requests.stream().map(request -> request.headers().get("idempotency-key"))
                    .collect(Collectors.toSet());
            same(List.of(3, 1), List.of(server.requests.size(), keys.size()), "requests and keys");
            var first = server.waits.get(0).toMillis();
            var second = server.waits.get(1).toMillis();
            same(true, first >= 250 && first <= 500 && second >= 500 && second <= 1000, "backoff");
        }
    }

    private static void retryAfter() throws Exception {
        for (var status : List.of(409, 429, 503)) {
            try (var server = new TestServer(new Reply(status, "2", ""), success("{\"found\":[],\"missing\":[]}"))) {
                server.client.skills().lookUp(SkillLookupInput.builder().names("Welding").build());
                same(List.of(Duration.ofSeconds(2)), server.waits, "waits after status " + status);
            }
        }
        try (var server = new TestServer(new Reply(429, "61", ""))) {
            var exception = thrown(ApiException.class, () -> server.client.shifts().list(), "a long wait");
            same(Duration.ofSeconds(61), exception.retryAfter().orElseThrow(), "wait");
            same(1, server.requests.size(), "requests");
        }
        try (var server = new TestServer(new Reply(429, "0", ""))) {
            thrown(ApiException.class, () -> server.client.shifts().list(RequestOptions.NONE.maxRetries(1)), "429");
            same(2, server.requests.size(), "requests with one retry");
        }
    }

    private static void otherRejections() throws Exception {
        for (var reply : List.of(status(400), status(401), status(402), status(403), status(404), status(409), status(413),
                status(415), status(422), new Reply(400, "1", ""))) {
            try (var server = new TestServer(reply, success("{}"))) {
                thrown(ApiException.class, () -> server.client.workflows().archive("WF_1"), "status " + reply.status());
                same(1, server.requests.size(), "requests with status " + reply.status());
            }
        }
    }

    private static void postWithoutKey() throws Exception {
        var input = SelectedSkillInput.builder().userId("u").skillId("s").subSkillId("s").masterSkillId("m").build();
        for (var reply : List.of(status(0), status(500), status(503))) {
            try (var server = new TestServer(reply, success("{}"))) {
                thrown(AttestryException.class, () -> server.client.catalogue().selectSkill(input), "status " + reply.status());
                same(1, server.requests.size(), "requests with status " + reply.status());
                var headers = server.requests.get(0).headers();
                same(false, headers.containsKey("x-signature") || headers.containsKey("x-api-key"), "credentials");
            }
        }
    }

    private static void errors() throws Exception {
        var start = "{\"success\":false,\"error\":{\"code\":\"VALIDATION_FAILED\",\"message\":\"See details.\","
                + "\"details\":[{\"path\":\"name\",\"message\":\"is required\"}],";
        for (var end : List.of("\"request_id\":\"r-1\",\"doc_url\":\"https://example.com/e\"}}",
                "\"requestId\":\"r-1\",\"docUrl\":\"https://example.com/e\"}}")) {
            try (var server = new TestServer(new Reply(400, null, start + end))) {
                var input = WorkflowInput.builder().name("").build();
                var exception = thrown(ApiException.class, () -> server.client.workflows().create(input), "400");
                same(List.of(400, "VALIDATION_FAILED", "See details.", "r-1", "https://example.com/e"),
                        List.of(exception.status(), exception.code().orElseThrow(), exception.getMessage(),
                                exception.requestId().orElseThrow(), exception.docUrl().orElseThrow()), "error");
                same(List.of(new ApiException.Detail("name", "is required")), exception.details(), "details");
                contains("name: is required", exception.toString());
            }
        }
        var body = "{\"success\":false,\"message\":\"Skill not found.\",\"error\":\"Skill not found.\",\"docUrl\":\"https://example.com/e\"}";
        try (var server = new TestServer(new Reply(404, null, body))) {
            var exception = thrown(ApiException.class, () -> server.client.catalogue().getSkill("sk_1"), "404");
            same(List.of("Skill not found.", true, "https://example.com/e"),
                    List.of(exception.getMessage(), exception.code().isEmpty(), exception.docUrl().orElseThrow()), "error");
        }
        try (var server = new TestServer(new Reply(404, null, "<html>"))) {
            var exception = thrown(ApiException.class, () -> server.client.shifts().list(), "a proxy");
            same("The server returned status 404.", exception.getMessage(), "message");
        }
    }

    private static void lists() throws Exception {
        var pages = new Reply[] {
            success("{\"items\":[{\"mandate_id\":\"a\"},{\"mandate_id\":\"b\"}],\"next_cursor\":\"x y\"}"),
            success("{\"items\":[],\"next_cursor\":\"z\"}"),
            success("{\"items\":[{\"mandate_id\":\"c\"}],\"next_cursor\":null}")};
        try (var server = new TestServer(pages)) {
            var params = MandatesListParams.builder().status(MandateStatus.READY).build();
            var ids = new ArrayList<String>();
            for (var mandate : server.client.mandates().all(params)) ids.add(mandate.mandateId());
            same(List.of("a", "b", "c"), ids, "items");
            same("/api/v1/partner/mandates?status=ready&cursor=x%20y", server.requests.get(1).target(), "second page");
        }
        try (var server = new TestServer(pages)) {
            same("a", server.client.mandates().all().stream().findFirst().orElseThrow().mandateId(), "first item");
            same(1, server.requests.size(), "requests for the first item");
        }
        try (var server = new TestServer(
                new Reply(200, null, "{\"data\":[{\"skill_id\":\"1\"},{\"skill_id\":\"2\"}],\"page\":1,\"limit\":2,\"count\":3}"),
                new Reply(200, null, "{\"data\":[{\"skill_id\":\"3\"}],\"page\":2,\"limit\":2,\"count\":3}"))) {
            var ids = server.client.catalogue().allSkills().stream().map(skill -> skill.skillId()).toList();
            same(List.of("1", "2", "3"), ids, "items");
            same("/api/skills?page=2", server.requests.get(1).target(), "second page");
        }
    }

    private static void sessionToken() throws Exception {
        try (var server = new TestServer(success("{\"questions\":[]}"))) {
            server.client.assessments().generate("vst_1");
            var headers = server.requests.get(0).headers();
            same("vst_1", headers.get("x-session-token"), "session token");
            same(null, headers.get("x-api-key"), "key");
            var input = VerificationSessionInput.builder().externalStudentId("s").name("n").email("e").build();
            var exception = thrown(ConfigurationException.class, () -> server.client.sessions().open(input), "open");
            contains("ATTESTRY_SESSION_KEY", exception.getMessage());
        }
    }

    private static void settings() {
        var url = "http://127.0.0.1:8080";
        var cases = new LinkedHashMap<String, AttestryClient.Builder>();
        cases.put("ATTESTRY_URL is not set", builder());
        cases.put("ATTESTRY_URL or baseUrl must be", builder().baseUrl("127.0.0.1:8080"));
        cases.put("ATTESTRY_SECRET is not set", builder().baseUrl(url).keyId(KEY_ID));
        cases.put("ATTESTRY_KEY_ID is not set", builder().baseUrl(url).secret(SECRET));
        cases.put("ATTESTRY_KEY_ID contains the placeholder", builder().baseUrl(url).keyId("VFN_TEST_…").secret(SECRET));
        cases.put("ATTESTRY_KEY_ID or keyId must be a partner", builder().baseUrl(url).keyId("VSK_TEST_X").secret(SECRET));
        cases.put("ATTESTRY_SECRET contains a space", builder().baseUrl(url).keyId(KEY_ID).secret(SECRET + "\n"));
        cases.put("ATTESTRY_SECRET or secret must be", builder().baseUrl(url).keyId(KEY_ID).secret(KEY_ID));
        cases.forEach((message, builder) ->
                contains(message, thrown(ConfigurationException.class, builder::build, message).getMessage()));
        var client = new AttestryClient.Builder(Map.of("ATTESTRY_URL", url)).build();
        contains("ATTESTRY_KEY_ID is not set",
                thrown(ConfigurationException.class, () -> client.shifts().list(), "no key").getMessage());
    }

    private static void emptyIds() throws Exception {
        try (var server = new TestServer(success("{}"))) {
            for (var id : List.of("", ".", "..")) {
                var exception = thrown(ConfigurationException.class, () -> server.client.mandates().archive(id), id);
                contains("mandate_id", exception.getMessage());
            }
            same(0, server.requests.size(), "requests");
            server.client.mandates().get("a/b c");
            same("/api/v1/partner/mandates/a%2Fb%20c", server.requests.get(0).target(), "target");
        }
    }

    private static void unreachableServer() {
        var client = builder().baseUrl("http://127.0.0.1:1").keyId(KEY_ID).secret(SECRET).maxRetries(0).build();
        var exception = thrown(ConnectionException.class, () -> client.shifts().list(), "no server");
        contains("GET http://127.0.0.1:1/api/v1/partner/shifts failed", exception.getMessage());
        contains("Check that the server is running", exception.getMessage());
    }

    private static void untypedCall() throws Exception {
        try (var server = new TestServer(success("{\"items\":[{\"value\":\"day\"}]}"))) {
            var data = (Map<?, ?>) server.client.call("get", "/shifts?limit=1");
            same(List.of(Map.of("value", "day")), data.get("items"), "items");
            same("/api/v1/partner/shifts?limit=1", server.requests.get(0).target(), "target");
        }
    }

    private static void builders() {
        var exception = thrown(IllegalStateException.class, () -> CampaignInput.builder().build(), "no mandate");
        contains("CampaignInput.mandateId", exception.getMessage());
    }

    private static AttestryClient.Builder builder() {
        return new AttestryClient.Builder(Map.of());
    }

    private static String text(Map<?, ?> map, String name) {
        return (String) map.get(name);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void same(Object expected, Object actual, String what) {
        if (!Objects.equals(expected, actual)) throw new AssertionError(what + " is " + actual + ", not " + expected);
    }

    private static void contains(String part, String text) {
        if (!text.contains(part)) throw new AssertionError("\"" + part + "\" is missing in: " + text);
    }

    private static void run(Test test, String what) {
        try {
            test.run();
        } catch (Exception exception) {
            throw new AssertionError(what + " must not throw " + exception, exception);
        }
    }

    /** Returns the exception that the test throws. */
    private static <T extends Exception> T thrown(Class<T> expected, Test test, String what) {
        try {
            test.run();
        } catch (Exception exception) {
            if (expected.isInstance(exception)) return expected.cast(exception);
            throw new AssertionError(what + " throws " + exception, exception);
        }
        throw new AssertionError(what + " must throw " + expected.getSimpleName());
    }
}
