package attestry

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Error is an error response of the API. Get it with errors.As.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Code is the error code, such as VALIDATION_FAILED. It is empty for the catalogue, which has no codes, and for
	// responses that do not come from the API but, for example, from a proxy.
	Code    string
	Message string
	// Details lists each invalid field with its path.
	Details []ErrorDetail
	// RequestID identifies the request in the log of the server. Include it when you contact the operator.
	RequestID string
	// DocURL is the address of the documentation of this error, if the response contains one.
	DocURL string
	// RetryAfter is the time to wait before a retry. It is nil if the response does not contain it.
	RetryAfter *time.Duration
	// Body is the response body as received.
	Body []byte
}

func (e *Error) Error() string {
	text := strings.Builder{}
	fmt.Fprintf(&text, "attestry: status %d", e.Status)
	if e.Code != "" {
		text.WriteString(" " + e.Code)
	}
	text.WriteString(": " + e.Message)
	for _, detail := range e.Details {
		fmt.Fprintf(&text, "\n  %s: %s", detail.Path, detail.Message)
	}
	if e.DocURL != "" {
		text.WriteString("\n  see " + e.DocURL)
	}
	if e.RequestID != "" {
		text.WriteString("\n  request ID: " + e.RequestID)
	}
	return text.String()
}

// ConnectionError is returned if no response was received.
type ConnectionError struct {
	Method string
	URL    string
	Err    error
}

func (e *ConnectionError) Error() string {
	return fmt.Sprintf("attestry: %s %s failed: %v. Check that the server is running, and that ATTESTRY_URL or BaseURL is its address.", e.Method, e.URL, e.Err)
}

// Unwrap returns the error of the HTTP client.
func (e *ConnectionError) Unwrap() error { return e.Err }

// ConfigError is returned if a configuration value is missing or malformed.
type ConfigError struct {
	Message string
}

func (e *ConfigError) Error() string { return "attestry: " + e.Message }

// newError reads the error formats of the three APIs.
func newError(response *http.Response, body []byte) *Error {
	result := &Error{
		Status:     response.StatusCode,
		RequestID:  response.Header.Get("x-request-id"),
		RetryAfter: parseRetryAfter(response.Header.Get("retry-after"), time.Now()),
		Body:       body,
	}
	type fields struct {
		Code      string        `json:"code"`
		Message   string        `json:"message"`
		Details   []ErrorDetail `json:"details"`
		DocURL    string        `json:"doc_url"`
		DocUrl    string        `json:"docUrl"`
		RequestID string        `json:"request_id"`
		RequestId string        `json:"requestId"`
	}
	read := func(data []byte) {
		var found fields
		if json.Unmarshal(data, &found) != nil {
			return
		}
		if found.Code != "" {
			result.Code = found.Code
		}
		if found.Message != "" {
			result.Message = found.Message
		}
		if found.Details != nil {
			result.Details = found.Details
		}
		for _, url := range []string{found.DocURL, found.DocUrl} {
			if url != "" {
				result.DocURL = url
			}
		}
		for _, id := range []string{found.RequestID, found.RequestId} {
			if id != "" && result.RequestID == "" {
				result.RequestID = id
			}
		}
	}
	var envelope struct {
		Error json.RawMessage `json:"error"`
	}
	// The catalogue has its fields at the top level, the other APIs have them in `error`.
	read(body)
	if json.Unmarshal(body, &envelope) == nil {
		read(envelope.Error)
	}
	if result.Message == "" {
		result.Message = fmt.Sprintf("The server returned status %d", result.Status)
		if location := response.Header.Get("location"); location != "" {
			result.Message += fmt.Sprintf(" with a redirect to %s, which is not followed. Use that address as ATTESTRY_URL or BaseURL.", location)
		}
	}
	return result
}

// parseRetryAfter reads a Retry-After header: seconds, or a date as some proxies send it.
func parseRetryAfter(value string, now time.Time) *time.Duration {
	if value == "" {
		return nil
	}
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 && seconds < math.MaxInt32 {
		wait := time.Duration(seconds * float64(time.Second))
		return &wait
	}
	if date, err := http.ParseTime(value); err == nil {
		wait := date.Sub(now)
		if wait < 0 {
			wait = 0
		}
		return &wait
	}
	return nil
}
