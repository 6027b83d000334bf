package attestry

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// DefaultWebhookTolerance is the maximum difference between the timestamp of a delivery and the current time.
const DefaultWebhookTolerance = 5 * time.Minute

// WebhookError is returned for a delivery that is not authentic, too old or malformed. Respond to it with status 401.
type WebhookError struct {
	Reason string
}

func (e *WebhookError) Error() string { return "attestry: webhook rejected: " + e.Reason }

// WebhookOption changes how VerifyWebhook verifies a delivery.
type WebhookOption func(*webhookOptions)

type webhookOptions struct {
	tolerance time.Duration
	now       time.Time
}

// WithTolerance sets the maximum difference between the timestamp of the delivery and the current time.
// The default is DefaultWebhookTolerance.
func WithTolerance(tolerance time.Duration) WebhookOption {
	return func(o *webhookOptions) { o.tolerance = tolerance }
}

// WithWebhookTime sets the current time, for tests. The default is the system clock.
func WithWebhookTime(now time.Time) WebhookOption {
	return func(o *webhookOptions) { o.now = now }
}

// VerifyWebhook verifies that a delivery was signed with the secret of the endpoint (whsec_…) and is recent, and
// returns its event. The body must be the request body exactly as received: verification fails if it was parsed and
// serialised again. The error is a *WebhookError if the delivery must be rejected, and a *ConfigError if the secret
// is missing or malformed.
func VerifyWebhook(body []byte, header http.Header, secret string, options ...WebhookOption) (*Event, error) {
	settings := webhookOptions{tolerance: DefaultWebhookTolerance, now: time.Now()}
	for _, option := range options {
		option(&settings)
	}
	key, err := webhookKey(secret)
	if err != nil {
		return nil, err
	}
	id, timestamp, signatures := header.Get("webhook-id"), header.Get("webhook-timestamp"), header.Get("webhook-signature")
	if id == "" || timestamp == "" || signatures == "" {
		return nil, &WebhookError{"the webhook-id, webhook-timestamp or webhook-signature header is missing"}
	}
	seconds, err := strconv.ParseUint(timestamp, 10, 53)
	if err != nil || !isWithin(settings.tolerance, settings.now, time.Unix(int64(seconds), 0)) {
		return nil, &WebhookError{fmt.Sprintf("the webhook-timestamp header differs from the current time by more than %s", settings.tolerance)}
	}
	expected := webhookSignature(key, id, timestamp, body)
	// For a day after a rotation, deliveries carry one signature per valid secret; one match is enough.
	for _, signature := range strings.Fields(signatures) {
		if !strings.HasPrefix(signature, "v1,") {
			continue
		}
		received, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1,"))
		if err != nil || !hmac.Equal(received, expected) {
			continue
		}
		var event Event
		if err := json.Unmarshal(body, &event); err != nil {
			return nil, &WebhookError{"the body is not a valid event: " + err.Error()}
		}
		return &event, nil
	}
	return nil, &WebhookError{"no signature in the webhook-signature header matches the secret and the body"}
}

// SignWebhook returns the headers of a delivery, for tests of a receiver.
func SignWebhook(body []byte, id, secret string, at time.Time) (http.Header, error) {
	key, err := webhookKey(secret)
	if err != nil {
		return nil, err
	}
	timestamp := strconv.FormatInt(at.Unix(), 10)
	header := http.Header{}
	header.Set("webhook-id", id)
	header.Set("webhook-timestamp", timestamp)
	header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(webhookSignature(key, id, timestamp, body)))
	return header, nil
}

func webhookSignature(key []byte, id, timestamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return mac.Sum(nil)
}

func webhookKey(secret string) ([]byte, error) {
	if secret == "" {
		return nil, &ConfigError{"The secret of the webhook endpoint is empty. Pass the whsec_… value that was returned when the endpoint was created or its secret rotated."}
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return nil, &ConfigError{"The secret of the webhook endpoint must be whsec_ followed by base64. Pass the value that was returned when the endpoint was created or its secret rotated."}
	}
	return key, nil
}

func isWithin(tolerance time.Duration, a, b time.Time) bool {
	difference := a.Sub(b)
	if difference < 0 {
		difference = -difference
	}
	return difference <= tolerance
}
