package attestry

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"testing"
	"time"
)

type vectors struct {
	Requests []struct {
		Name           string `json:"name"`
		Secret         string `json:"secret"`
		Timestamp      int64  `json:"timestamp"`
		Method         string `json:"method"`
		Target         string `json:"target"`
		OnBehalfOf     string `json:"on_behalf_of"`
		IdempotencyKey string `json:"idempotency_key"`
		Body           string `json:"body"`
		Lines          string `json:"lines"`
		Signature      string `json:"signature"`
	} `json:"requests"`
	Webhooks []struct {
		Name    string            `json:"name"`
		Valid   bool              `json:"valid"`
		Secret  string            `json:"secret"`
		Now     int64             `json:"now"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	} `json:"webhooks"`
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	text, err := os.ReadFile("../vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var result vectors
	if err := json.Unmarshal(text, &result); err != nil {
		t.Fatal(err)
	}
	if len(result.Requests) == 0 || len(result.Webhooks) == 0 {
		t.Fatal("the vector file is empty")
	}
	return result
}

func TestRequestVectors(t *testing.T) {
	for _, vector := range readVectors(t).Requests {
		input := SignInput{
			Secret: vector.Secret, Timestamp: vector.Timestamp, Method: vector.Method, Target: vector.Target,
			OnBehalfOf: vector.OnBehalfOf, IdempotencyKey: vector.IdempotencyKey, Body: []byte(vector.Body),
		}
		if lines := LinesToSign(input); lines != vector.Lines {
			t.Errorf("%s: the string to sign is %q, not %q", vector.Name, lines, vector.Lines)
		}
		if signature := Sign(input); signature != vector.Signature {
			t.Errorf("%s: the signature is %s, not %s", vector.Name, signature, vector.Signature)
		}
	}
}

func TestWebhookVectors(t *testing.T) {
	for _, vector := range readVectors(t).Webhooks {
		header := http.Header{}
		for name, value := range vector.Headers {
			header.Set(name, value)
		}
		event, err := VerifyWebhook([]byte(vector.Body), header, vector.Secret, WithWebhookTime(time.Unix(vector.Now, 0)))
		var rejection *WebhookError
		switch {
		case vector.Valid && err != nil:
			t.Errorf("%s: rejected: %v", vector.Name, err)
		case vector.Valid && event == nil:
			t.Errorf("%s: no event was returned", vector.Name)
		case !vector.Valid && !errors.As(err, &rejection):
			t.Errorf("%s: must be rejected with a WebhookError, got %v", vector.Name, err)
		}
	}
}

func TestSignedWebhookCanBeVerified(t *testing.T) {
	const secret = "whsec_ZXhhbXBsZSB3ZWJob29rIHNlY3JldCBmb3IgdmVjdG9ycyBvbmx5"
	body := []byte(`{"event_id":"EV_1","type":"result.completed","mode":"test","sequence":7,"data":{"result_id":"RS_1","status":"completed","candidate":{"name":"आशा"}}}`)
	header, err := SignWebhook(body, "EV_1", secret, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	event, err := VerifyWebhook(body, header, secret)
	if err != nil {
		t.Fatal(err)
	}
	data, err := event.DecodeData()
	if err != nil {
		t.Fatal(err)
	}
	result, isResult := data.(*Result)
	if !isResult || result.ResultID != "RS_1" || result.Status != ResultStatusCompleted || result.Candidate.Name != "आशा" {
		t.Errorf("unexpected data: %#v", data)
	}
	event.Type = "something.new"
	if data, err := event.DecodeData(); err != nil || data.(map[string]any)["result_id"] != "RS_1" {
		t.Errorf("an unknown event type must be decoded into a map, got %#v, %v", data, err)
	}
	for _, malformed := range []string{"", "whsec_", "whsec_***"} {
		var missing *ConfigError
		if _, err := VerifyWebhook(body, header, malformed); !errors.As(err, &missing) {
			t.Errorf("the secret %q must be a ConfigError, got %v", malformed, err)
		}
	}
}
