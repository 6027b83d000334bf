package attestry

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Version of this package.
const Version = "0.2.0"

const partnerPath = "/api/v1/partner"

// Client calls the three APIs. It is safe for concurrent use.
type Client struct {
	resources
	config Config
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error
}

// New creates a client. Missing settings are read from the environment; see Config.
func New(config Config) (*Client, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	client := &Client{config: config, now: time.Now, sleep: sleep}
	client.resources = newResources(client)
	return client, nil
}

// RequestOption changes one call.
type RequestOption func(*requestOptions)

type requestOptions struct {
	idempotencyKey string
	onBehalfOf     string
	sessionToken   string
	maxRetries     int
	header         http.Header
}

// WithIdempotencyKey sets the Idempotency-Key of a write. Store it with your own record of the operation: then the
// call can be repeated even after your process restarts. Without it, a random key is sent, which is the same in every
// retry of the call.
func WithIdempotencyKey(key string) RequestOption {
	return func(o *requestOptions) { o.idempotencyKey = key }
}

// WithOnBehalfOf names the recruiter on whose behalf the call is made.
func WithOnBehalfOf(recruiter string) RequestOption {
	return func(o *requestOptions) { o.onBehalfOf = recruiter }
}

// WithSessionToken sends the token of a verification session, vst_….
func WithSessionToken(token string) RequestOption {
	return func(o *requestOptions) { o.sessionToken = token }
}

// WithMaxRetries sets the maximum number of retries of the call; 0 disables them.
func WithMaxRetries(retries int) RequestOption {
	return func(o *requestOptions) { o.maxRetries = retries }
}

// WithHeader sends an additional header.
func WithHeader(name, value string) RequestOption {
	return func(o *requestOptions) { o.header.Set(name, value) }
}

// authentication of an operation.
type authentication int

const (
	authNone authentication = iota
	authPartner
	authSessionKey
	authSessionToken
	authAdmin
)

// operation is one call of an API.
type operation struct {
	method string
	// path may contain placeholders such as {mandate_id}, which are replaced by the escaped path parameters.
	path           string
	pathParameters []pathParameter
	query          url.Values
	body           any
	authentication authentication
	// sendsIdempotencyKey is set if the operation accepts an Idempotency-Key.
	sendsIdempotencyKey bool
}

type pathParameter struct{ name, value string }

// escapedPath rejects values that would call another path.
func (o operation) escapedPath() (string, error) {
	path := o.path
	for _, parameter := range o.pathParameters {
		if parameter.value == "" || parameter.value == "." || parameter.value == ".." {
			return "", &ConfigError{fmt.Sprintf("%s must be an ID; got %q.", parameter.name, parameter.value)}
		}
		path = strings.Replace(path, "{"+parameter.name+"}", url.PathEscape(parameter.value), 1)
	}
	return path, nil
}

// Call sends a request to the partner API, decodes the data field of the response into result and returns an *Error
// for error responses. The path is relative to the partner API (/shifts) or absolute (/api/v1/partner/shifts), and may
// contain a query. Both body and result may be nil. Use the resources of the client, such as client.Mandates, for
// typed calls.
func (c *Client) Call(ctx context.Context, method, path string, body, result any, options ...RequestOption) error {
	if !strings.HasPrefix(path, "/api/") {
		path = partnerPath + path
	}
	path, query, _ := strings.Cut(path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return fmt.Errorf("attestry: the query of %s is malformed: %w", path, err)
	}
	method = strings.ToUpper(method)
	envelope := struct {
		Data any `json:"data"`
	}{result}
	return c.send(ctx, operation{
		method: method, path: path, query: values, body: body, authentication: authPartner,
		sendsIdempotencyKey: method != http.MethodGet && method != http.MethodHead,
	}, &envelope, options)
}

// send sends the operation, with retries, and decodes the response body into result.
func (c *Client) send(ctx context.Context, call operation, result any, options []RequestOption) error {
	settings := requestOptions{onBehalfOf: c.config.OnBehalfOf, maxRetries: c.config.MaxRetries, header: http.Header{}}
	for _, option := range options {
		option(&settings)
	}
	if call.authentication == authPartner {
		if err := c.config.requirePartnerKey(); err != nil {
			return err
		}
	} else {
		settings.onBehalfOf = ""
	}
	if call.authentication == authAdmin && c.config.AdminKey == "" {
		return &ConfigError{"ADMIN_API_KEY is not set. Set it to the admin key of the server, or pass AdminKey."}
	}
	if call.authentication == authSessionKey && c.config.SessionKey == "" && settings.sessionToken == "" {
		return &ConfigError{"ATTESTRY_SESSION_KEY is not set. Set it to a session key, VSK_TEST_… or VSK_LIVE_…, or pass SessionKey. `npm start` in a checkout of Attestry prints a TEST session key."}
	}
	if call.authentication == authSessionToken && settings.sessionToken == "" {
		return &ConfigError{"The session token is empty. Pass the vst_… value that client.Sessions.Open returned."}
	}
	path, err := call.escapedPath()
	if err != nil {
		return err
	}
	call.path = path
	if settings.idempotencyKey == "" && call.sendsIdempotencyKey {
		key, err := newUUID()
		if err != nil {
			return err
		}
		settings.idempotencyKey = key
	}
	// Encoded once: the bytes that are signed must be the bytes that are sent, in every attempt.
	var body []byte
	if call.body != nil {
		if body, err = json.Marshal(call.body); err != nil {
			return fmt.Errorf("attestry: encoding the body of %s %s: %w", call.method, call.path, err)
		}
	}
	for retry := 0; ; retry++ {
		response, err := c.attempt(ctx, call, body, settings)
		if err == nil {
			if result == nil || len(response) == 0 {
				return nil
			}
			if err := json.Unmarshal(response, result); err != nil {
				return fmt.Errorf("attestry: decoding the response of %s %s: %w", call.method, call.path, err)
			}
			return nil
		}
		wait, retryable := retryDelay(err, isRepeatable(call.method, settings.idempotencyKey), retry)
		if !retryable || retry >= settings.maxRetries || wait > c.config.MaxRetryWait || ctx.Err() != nil {
			return err
		}
		if err := c.sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func (c *Client) attempt(ctx context.Context, call operation, body []byte, settings requestOptions) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	address := c.config.BaseURL + call.path
	if len(call.query) > 0 {
		address += "?" + encodeQuery(call.query)
	}
	request, err := http.NewRequestWithContext(ctx, call.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("attestry: %w", err)
	}
	for name, values := range settings.header {
		request.Header[name] = values
	}
	request.Header.Set("accept", "application/json")
	request.Header.Set("user-agent", "attestry-go/"+Version+" "+runtime.Version())
	if body != nil {
		request.Header.Set("content-type", "application/json")
	}
	if settings.idempotencyKey != "" {
		request.Header.Set("idempotency-key", settings.idempotencyKey)
	}
	if settings.onBehalfOf != "" {
		request.Header.Set("x-on-behalf-of", settings.onBehalfOf)
	}
	if settings.sessionToken != "" {
		request.Header.Set("x-session-token", settings.sessionToken)
	}
	switch call.authentication {
	case authPartner:
		timestamp := c.now().Unix()
		request.Header.Set("x-api-key", c.config.KeyID)
		request.Header.Set("x-timestamp", strconv.FormatInt(timestamp, 10))
		request.Header.Set("x-signature", Sign(SignInput{
			Secret: c.config.Secret, Timestamp: timestamp, Method: call.method, Target: request.URL.RequestURI(),
			OnBehalfOf: settings.onBehalfOf, IdempotencyKey: settings.idempotencyKey, Body: body,
		}))
	case authSessionKey:
		if c.config.SessionKey != "" {
			request.Header.Set("x-api-key", c.config.SessionKey)
		}
	case authAdmin:
		request.Header.Set("x-api-key", c.config.AdminKey)
	}
	response, err := c.config.HTTPClient.Do(request)
	if err != nil {
		return nil, &ConnectionError{call.method, address, err}
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, &ConnectionError{call.method, address, err}
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, newError(response, content)
	}
	return content, nil
}

// encodeQuery writes spaces as %20: the server accepts + too, but %20 is valid in every part of a URL.
func encodeQuery(query url.Values) string {
	return strings.ReplaceAll(query.Encode(), "+", "%20")
}

func newUUID() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("attestry: creating an idempotency key: %w", err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

// Ptr returns a pointer to a value, for optional fields and parameters.
func Ptr[T any](value T) *T { return &value }
