package attestry

import (
	"context"
	"errors"
	"math/rand"
	"net/http"
	"time"
)

const firstRetryDelay = 500 * time.Millisecond

// isRepeatable reports whether a second request has no further effect.
func isRepeatable(method, idempotencyKey string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete:
		return true
	}
	return idempotencyKey != ""
}

// retryDelay returns the wait before the next attempt, and whether there should be one. A rejection with Retry-After
// had no effect, so any call can be repeated after that time. After a 5xx status or a broken connection, the request
// may have had an effect, so only repeatable calls are sent again.
func retryDelay(err error, repeatable bool, retry int) (time.Duration, bool) {
	var response *Error
	var connection *ConnectionError
	switch {
	case errors.As(err, &response):
		switch response.Status {
		case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable:
			if response.RetryAfter != nil {
				return *response.RetryAfter, true
			}
		}
		if response.Status < 500 {
			return 0, false
		}
	case !errors.As(err, &connection):
		return 0, false
	}
	// Exponential backoff with jitter, so that many clients do not retry at the same moment.
	// Before Go 1.20, the global source of math/rand has the same seed in every process.
	random := rand.New(rand.NewSource(time.Now().UnixNano()))
	backoff := float64(firstRetryDelay) * float64(int(1)<<retry) * (0.5 + random.Float64()/2)
	return time.Duration(backoff), repeatable
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
