package attestry

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Config contains the settings of a client. Empty values of BaseURL, KeyID, Secret, SessionKey and AdminKey are read
// from the environment.
type Config struct {
	// BaseURL of the server, such as https://verify.example.com. Default: ATTESTRY_URL.
	BaseURL string
	// KeyID of a partner key, VFN_TEST_… or VFN_LIVE_…. Default: ATTESTRY_KEY_ID.
	KeyID string
	// Secret of the partner key, VFN_SK_…; it is never sent. Default: ATTESTRY_SECRET.
	Secret string
	// SessionKey opens verification sessions, VSK_TEST_… or VSK_LIVE_…. Default: ATTESTRY_SESSION_KEY.
	SessionKey string
	// AdminKey is the key of the catalogue's admin operations. Default: ADMIN_API_KEY.
	AdminKey string
	// OnBehalfOf is the recruiter on whose behalf calls of the partner API are made by default.
	OnBehalfOf string
	// MaxRetries is the maximum number of retries of a call. Default: 3; NoRetries disables retries.
	MaxRetries int
	// MaxRetryWait is the longest wait before one retry. If the server requests a longer wait, the error is returned.
	// Default: 60 seconds.
	MaxRetryWait time.Duration
	// Timeout limits one attempt. Default: 100 seconds, because generating an assessment can take 90 seconds.
	Timeout time.Duration
	// HTTPClient sends the requests. Default: a client of its own. Redirects are not followed, because a redirected
	// request needs another signature.
	HTTPClient *http.Client
}

// NoRetries as MaxRetries disables retries.
const NoRetries = -1

const (
	defaultMaxRetries   = 3
	defaultMaxRetryWait = 60 * time.Second
	defaultTimeout      = 100 * time.Second
)

const partnerKeyHint = "`npm start` in a checkout of Attestry prints a TEST key and its secret and stores them in .attestry/demo-keys.json; on another server, ask its operator."

func (c Config) withDefaults() (Config, error) {
	for _, setting := range []struct {
		variable string
		value    *string
	}{
		{"ATTESTRY_URL", &c.BaseURL}, {"ATTESTRY_KEY_ID", &c.KeyID}, {"ATTESTRY_SECRET", &c.Secret},
		{"ATTESTRY_SESSION_KEY", &c.SessionKey}, {"ADMIN_API_KEY", &c.AdminKey},
	} {
		if *setting.value == "" {
			*setting.value = os.Getenv(setting.variable)
		}
		if strings.Contains(*setting.value, "…") {
			return c, &ConfigError{fmt.Sprintf("%s contains the placeholder “…”: replace it with your own value.", setting.variable)}
		}
		if strings.IndexFunc(*setting.value, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
			return c, &ConfigError{fmt.Sprintf("%s contains a space or a character that is not ASCII: copy the value again.", setting.variable)}
		}
	}
	if c.BaseURL == "" {
		return c, &ConfigError{"ATTESTRY_URL is not set. Set it to the address of your Attestry server, such as http://127.0.0.1:8080, or pass BaseURL."}
	}
	if parsed, err := url.Parse(c.BaseURL); err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Host == "" {
		return c, &ConfigError{fmt.Sprintf("ATTESTRY_URL or BaseURL must be an address such as http://127.0.0.1:8080; got %q.", c.BaseURL)}
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	if c.KeyID != "" && !strings.HasPrefix(c.KeyID, "VFN_TEST_") && !strings.HasPrefix(c.KeyID, "VFN_LIVE_") {
		return c, &ConfigError{"ATTESTRY_KEY_ID or KeyID must be a partner key, VFN_TEST_… or VFN_LIVE_…. " + partnerKeyHint}
	}
	if c.Secret != "" && !strings.HasPrefix(c.Secret, "VFN_SK_") {
		return c, &ConfigError{"ATTESTRY_SECRET or Secret must be the secret of the partner key, VFN_SK_…. " + partnerKeyHint}
	}
	if c.SessionKey != "" && !strings.HasPrefix(c.SessionKey, "VSK_") {
		return c, &ConfigError{"ATTESTRY_SESSION_KEY or SessionKey must be a session key, VSK_TEST_… or VSK_LIVE_…."}
	}
	if c.KeyID != "" || c.Secret != "" {
		if err := c.requirePartnerKey(); err != nil {
			return c, err
		}
	}
	switch {
	case c.MaxRetries == 0:
		c.MaxRetries = defaultMaxRetries
	case c.MaxRetries < 0:
		c.MaxRetries = 0
	}
	if c.MaxRetryWait == 0 {
		c.MaxRetryWait = defaultMaxRetryWait
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	client := http.Client{}
	if c.HTTPClient != nil {
		client = *c.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.HTTPClient = &client
	return c, nil
}

// requirePartnerKey returns an error that names the missing variable.
func (c Config) requirePartnerKey() error {
	if c.KeyID == "" {
		return &ConfigError{"ATTESTRY_KEY_ID is not set. Set it to a partner key, VFN_TEST_… or VFN_LIVE_…, or pass KeyID. " + partnerKeyHint}
	}
	if c.Secret == "" {
		return &ConfigError{"ATTESTRY_SECRET is not set. Set it to the secret of the partner key, VFN_SK_…, or pass Secret. " + partnerKeyHint}
	}
	return nil
}
