package attestry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	testKeyID  = "VFN_TEST_EXAMPLE"
	testSecret = "VFN_SK_example"
)

// reply is a response of the test server; a status of 0 breaks the connection.
type reply struct {
	status     int
	retryAfter string
	body       string
}

// received is a request as the test server received it.
type received struct {
	method, target, body string
	header               http.Header
}

// newTestClient returns a client whose requests receive the replies in turn; the last one is repeated.
func newTestClient(t *testing.T, replies ...reply) (client *Client, requests *[]received, waits *[]time.Duration) {
	t.Helper()
	requests, waits = &[]received{}, &[]time.Duration{}
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		*requests = append(*requests, received{request.Method, request.RequestURI, string(body), request.Header})
		index := len(*requests) - 1
		if index >= len(replies) {
			index = len(replies) - 1
		}
		current := replies[index]
		if current.status == 0 {
			panic(http.ErrAbortHandler)
		}
		if current.retryAfter != "" {
			writer.Header().Set("Retry-After", current.retryAfter)
		}
		writer.Header().Set("x-request-id", "r-1")
		writer.WriteHeader(current.status)
		io.WriteString(writer, current.body)
	}))
	t.Cleanup(server.Close)
	client, err := New(Config{BaseURL: server.URL + "/", KeyID: testKeyID, Secret: testSecret})
	if err != nil {
		t.Fatal(err)
	}
	client.sleep = func(_ context.Context, wait time.Duration) error {
		*waits = append(*waits, wait)
		return nil
	}
	return client, requests, waits
}

func success(data string) reply {
	return reply{status: 200, body: `{"success":true,"data":` + data + `}`}
}

func TestRequestsAreSigned(t *testing.T) {
	client, requests, _ := newTestClient(t, success(`{"mandate_id":"JM_1","status":"preparing"}`))
	result, err := client.Mandates.Create(context.Background(), MandateInput{
		WorkflowID: "WF_1", Title: "राजमिस्त्री", CompanyName: "A & B",
		Skills: []MandateSkill{{SkillID: Ptr("sk_1"), Verify: Ptr(true)}},
	}, WithOnBehalfOf("asha@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	if result.MandateID != "JM_1" || result.Status != MandateStatusPreparing {
		t.Errorf("unexpected result: %+v", result)
	}
	request := (*requests)[0]
	timestamp, _ := strconv.ParseInt(request.header.Get("x-timestamp"), 10, 64)
	expected := Sign(SignInput{
		Secret: testSecret, Timestamp: timestamp, Method: "POST", Target: "/api/v1/partner/mandates",
		OnBehalfOf: "asha@example.com", IdempotencyKey: request.header.Get("idempotency-key"), Body: []byte(request.body),
	})
	if request.header.Get("x-signature") != expected || request.header.Get("x-api-key") != testKeyID {
		t.Errorf("the request is not signed: %v", request.header)
	}
	if len(request.header.Get("idempotency-key")) != 36 {
		t.Errorf("a write must have an idempotency key, got %q", request.header.Get("idempotency-key"))
	}
	if !strings.Contains(request.body, `"skills":[{"skill_id":"sk_1","verify":true}]`) || strings.Contains(request.body, "null") {
		t.Errorf("unexpected body: %s", request.body)
	}
}

func TestQueriesAreSignedAsSent(t *testing.T) {
	client, requests, _ := newTestClient(t, success(`{"items":[],"next_cursor":null}`))
	_, err := client.Locations.List(context.Background(), &LocationsListParams{Q: Ptr("new delhi & नई+"), Limit: Ptr(int64(10))})
	if err != nil {
		t.Fatal(err)
	}
	request := (*requests)[0]
	if request.target != "/api/v1/partner/locations?limit=10&q=new%20delhi%20%26%20%E0%A4%A8%E0%A4%88%2B" {
		t.Errorf("unexpected target: %s", request.target)
	}
	timestamp, _ := strconv.ParseInt(request.header.Get("x-timestamp"), 10, 64)
	if request.header.Get("x-signature") != Sign(SignInput{Secret: testSecret, Timestamp: timestamp, Method: "GET", Target: request.target}) {
		t.Error("the signature does not match the target")
	}
	if request.header.Get("idempotency-key") != "" {
		t.Error("a read must not have an idempotency key")
	}
}

func TestWritesAreRetriedWithTheSameIdempotencyKey(t *testing.T) {
	client, requests, waits := newTestClient(t, reply{status: 0}, reply{status: 502}, success(`{"campaign":{"campaign_id":"CP_1"}}`))
	result, err := client.Campaigns.Create(context.Background(), CampaignInput{MandateID: "JM_1"})
	if err != nil {
		t.Fatal(err)
	}
	if result.Campaign.CampaignID != "CP_1" || len(*requests) != 3 {
		t.Errorf("expected three requests, got %d: %+v", len(*requests), result)
	}
	keys := map[string]bool{}
	for _, request := range *requests {
		keys[request.header.Get("idempotency-key")] = true
	}
	if len(keys) != 1 || keys[""] {
		t.Errorf("all attempts must have the same key: %v", keys)
	}
	if (*waits)[0] < 250*time.Millisecond || (*waits)[0] > 500*time.Millisecond || (*waits)[1] < 500*time.Millisecond || (*waits)[1] > time.Second {
		t.Errorf("unexpected waits: %v", *waits)
	}
}

func TestAnyCallIsRetriedAfterRetryAfter(t *testing.T) {
	for _, status := range []int{409, 429, 503} {
		client, requests, waits := newTestClient(t, reply{status: status, retryAfter: "2"}, success(`{"found":[],"missing":[]}`))
		if _, err := client.Skills.LookUp(context.Background(), SkillLookupInput{Names: []string{"Welding"}}); err != nil {
			t.Fatal(err)
		}
		if len(*requests) != 2 || (*waits)[0] != 2*time.Second {
			t.Errorf("status %d: expected a retry after 2 s, got %d requests, waits %v", status, len(*requests), *waits)
		}
	}
	client, requests, _ := newTestClient(t, reply{status: 429, retryAfter: "61"})
	_, err := client.Shifts.List(context.Background())
	var response *Error
	if !errors.As(err, &response) || response.RetryAfter == nil || *response.RetryAfter != 61*time.Second || len(*requests) != 1 {
		t.Errorf("a wait above the maximum must be returned, got %v after %d requests", err, len(*requests))
	}
	client, requests, _ = newTestClient(t, reply{status: 429, retryAfter: "0"})
	if _, err := client.Shifts.List(context.Background(), WithMaxRetries(1)); err == nil || len(*requests) != 2 {
		t.Errorf("expected one retry, got %d requests", len(*requests))
	}
}

func TestOtherRejectionsAreNotRetried(t *testing.T) {
	for _, status := range []int{400, 401, 402, 403, 404, 409, 413, 415, 422} {
		client, requests, _ := newTestClient(t, reply{status: status}, success(`{}`))
		if _, err := client.Workflows.Archive(context.Background(), "WF_1"); err == nil || len(*requests) != 1 {
			t.Errorf("status %d: expected an error after one request, got %v after %d", status, err, len(*requests))
		}
	}
	// Even with Retry-After: the same request would be rejected again.
	client, requests, _ := newTestClient(t, reply{status: 400, retryAfter: "1"}, success(`{}`))
	if _, err := client.Workflows.Archive(context.Background(), "WF_1"); err == nil || len(*requests) != 1 {
		t.Errorf("expected an error after one request, got %v after %d", err, len(*requests))
	}
}

func TestPostsWithoutIdempotencyKeyAreNotRepeated(t *testing.T) {
	for _, failure := range []reply{{status: 0}, {status: 500}, {status: 503}} {
		client, requests, _ := newTestClient(t, failure, success(`{}`))
		_, err := client.Catalogue.SelectSkill(context.Background(), SelectedSkillInput{UserID: "u"})
		if err == nil || len(*requests) != 1 {
			t.Errorf("status %d: expected an error after one request, got %v after %d", failure.status, err, len(*requests))
		}
		if header := (*requests)[0].header; header.Get("x-signature") != "" || header.Get("x-api-key") != "" {
			t.Error("the catalogue must not receive credentials of the partner API")
		}
	}
}

func TestErrorsOfTheThreeAPIs(t *testing.T) {
	for _, body := range []string{
		`{"success":false,"error":{"code":"VALIDATION_FAILED","message":"See details.","details":[{"path":"name","message":"is required"}],"request_id":"r-1","doc_url":"https://example.com/e"}}`,
		`{"success":false,"error":{"code":"VALIDATION_FAILED","message":"See details.","details":[{"path":"name","message":"is required"}],"requestId":"r-1","docUrl":"https://example.com/e"}}`,
	} {
		client, _, _ := newTestClient(t, reply{status: 400, body: body})
		_, err := client.Workflows.Create(context.Background(), WorkflowInput{})
		var response *Error
		if !errors.As(err, &response) {
			t.Fatalf("expected an *Error, got %v", err)
		}
		if response.Status != 400 || response.Code != "VALIDATION_FAILED" || response.Message != "See details." || response.RequestID != "r-1" ||
			response.DocURL != "https://example.com/e" || len(response.Details) != 1 || response.Details[0].Path != "name" {
			t.Errorf("unexpected error: %+v", response)
		}
		for _, part := range []string{"400 VALIDATION_FAILED", "name: is required", "https://example.com/e", "r-1"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q is missing in %q", part, err.Error())
			}
		}
	}
	client, _, _ := newTestClient(t, reply{status: 404, body: `{"success":false,"message":"Skill not found.","error":"Skill not found.","docUrl":"https://example.com/e"}`})
	var response *Error
	if _, err := client.Catalogue.GetSkill(context.Background(), "sk_1"); !errors.As(err, &response) ||
		response.Message != "Skill not found." || response.Code != "" || response.DocURL != "https://example.com/e" {
		t.Errorf("unexpected error of the catalogue: %+v", response)
	}
	client, _, _ = newTestClient(t, reply{status: 404, body: "<html>"})
	if _, err := client.Shifts.List(context.Background()); !errors.As(err, &response) || response.Message != "The server returned status 404" {
		t.Errorf("unexpected error of a proxy: %v", err)
	}
}

func TestListsArePaged(t *testing.T) {
	page := func(id, next string) reply {
		return success(fmt.Sprintf(`{"items":[{"mandate_id":"%s1"},{"mandate_id":"%s2"}],"next_cursor":%s}`, id, id, next))
	}
	client, requests, _ := newTestClient(t, page("a", `"x y"`), success(`{"items":[],"next_cursor":"z"}`), page("b", "null"))
	ids := []string{}
	mandates := client.Mandates.All(context.Background(), &MandatesListParams{Status: Ptr(MandateStatusReady)})
	for mandates.Next() {
		ids = append(ids, mandates.Item().MandateID)
	}
	if mandates.Err() != nil || strings.Join(ids, " ") != "a1 a2 b1 b2" || len(*requests) != 3 {
		t.Errorf("unexpected items %v, error %v", ids, mandates.Err())
	}
	if target := (*requests)[1].target; target != "/api/v1/partner/mandates?cursor=x%20y&status=ready" {
		t.Errorf("unexpected target of the second page: %s", target)
	}

	client, requests, _ = newTestClient(t,
		reply{status: 200, body: `{"data":[{"skill_id":"1"},{"skill_id":"2"}],"page":1,"limit":2,"count":3}`},
		reply{status: 200, body: `{"data":[{"skill_id":"3"}],"page":2,"limit":2,"count":3}`})
	ids = nil
	skills := client.Catalogue.AllSkills(context.Background(), nil)
	for skills.Next() {
		ids = append(ids, skills.Item().SkillID)
	}
	if skills.Err() != nil || strings.Join(ids, " ") != "1 2 3" || len(*requests) != 2 || (*requests)[1].target != "/api/skills?page=2" {
		t.Errorf("unexpected items %v, error %v", ids, skills.Err())
	}

	client, _, _ = newTestClient(t, reply{status: 403})
	failing := client.Mandates.All(context.Background(), nil)
	if failing.Next() || failing.Err() == nil {
		t.Error("the error of a page must end the iteration")
	}
}

func TestSessionCredentials(t *testing.T) {
	client, requests, _ := newTestClient(t, success(`{"questions":[]}`))
	if _, err := client.Assessments.Generate(context.Background(), "vst_1"); err != nil {
		t.Fatal(err)
	}
	if header := (*requests)[0].header; header.Get("x-session-token") != "vst_1" || header.Get("x-api-key") != "" {
		t.Errorf("unexpected headers: %v", header)
	}
	var missing *ConfigError
	if _, err := client.Sessions.Open(context.Background(), VerificationSessionInput{}); !errors.As(err, &missing) || !strings.Contains(err.Error(), "ATTESTRY_SESSION_KEY") {
		t.Errorf("expected an error that names ATTESTRY_SESSION_KEY, got %v", err)
	}
}

func TestConfigurationErrorsNameTheVariable(t *testing.T) {
	for _, variable := range []string{"ATTESTRY_URL", "ATTESTRY_KEY_ID", "ATTESTRY_SECRET", "ATTESTRY_SESSION_KEY", "ADMIN_API_KEY"} {
		t.Setenv(variable, "")
	}
	const url = "http://127.0.0.1:8080"
	for name, config := range map[string]Config{
		"ATTESTRY_URL is not set":                    {},
		"ATTESTRY_URL or BaseURL must be":            {BaseURL: "127.0.0.1:8080"},
		"ATTESTRY_SECRET is not set":                 {BaseURL: url, KeyID: testKeyID},
		"ATTESTRY_KEY_ID is not set":                 {BaseURL: url, Secret: testSecret},
		"ATTESTRY_KEY_ID contains the placeholder":   {BaseURL: url, KeyID: "VFN_TEST_…", Secret: testSecret},
		"ATTESTRY_KEY_ID or KeyID must be a partner": {BaseURL: url, KeyID: "VSK_TEST_X", Secret: testSecret},
		"ATTESTRY_SECRET contains a space":           {BaseURL: url, KeyID: testKeyID, Secret: testSecret + "\n"},
		"ATTESTRY_SECRET or Secret must be":          {BaseURL: url, KeyID: testKeyID, Secret: testKeyID},
	} {
		var missing *ConfigError
		if _, err := New(config); !errors.As(err, &missing) || !strings.Contains(err.Error(), name) {
			t.Errorf("expected an error with %q, got %v", name, err)
		}
	}
	t.Setenv("ATTESTRY_URL", url)
	client, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Shifts.List(context.Background()); err == nil || !strings.Contains(err.Error(), "ATTESTRY_KEY_ID is not set") {
		t.Errorf("expected an error that names ATTESTRY_KEY_ID, got %v", err)
	}
}

func TestEmptyIDsAreRejected(t *testing.T) {
	client, requests, _ := newTestClient(t, success(`{}`))
	for _, id := range []string{"", ".", ".."} {
		if _, err := client.Mandates.Archive(context.Background(), id); err == nil || !strings.Contains(err.Error(), "mandate_id") {
			t.Errorf("the ID %q must be rejected, got %v", id, err)
		}
	}
	if len(*requests) > 0 {
		t.Error("no request must be sent")
	}
	if _, err := client.Mandates.Get(context.Background(), "a/b c"); err != nil || (*requests)[0].target != "/api/v1/partner/mandates/a%2Fb%20c" {
		t.Errorf("unexpected target: %v", *requests)
	}
}

func TestUnreachableServer(t *testing.T) {
	client, err := New(Config{BaseURL: "http://127.0.0.1:1", KeyID: testKeyID, Secret: testSecret, MaxRetries: NoRetries})
	if err != nil {
		t.Fatal(err)
	}
	var connection *ConnectionError
	if _, err := client.Shifts.List(context.Background()); !errors.As(err, &connection) || !strings.Contains(err.Error(), "Check that the server is running") {
		t.Errorf("unexpected error: %v", err)
	}
}

func TestUntypedCall(t *testing.T) {
	client, requests, _ := newTestClient(t, success(`{"items":[{"value":"day"}]}`))
	var result struct {
		Items []struct {
			Value string `json:"value"`
		} `json:"items"`
	}
	if err := client.Call(context.Background(), "get", "/shifts?limit=1", nil, &result); err != nil {
		t.Fatal(err)
	}
	if result.Items[0].Value != "day" || (*requests)[0].target != "/api/v1/partner/shifts?limit=1" {
		t.Errorf("unexpected result %v of %v", result, (*requests)[0])
	}
}
