package attestry

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// SignInput describes a request to the partner API that is to be signed.
type SignInput struct {
	// Secret of the key, VFN_SK_…; it is never sent.
	Secret string
	// Timestamp is the Unix time in whole seconds.
	Timestamp int64
	Method    string
	// Target is the path and query exactly as sent, such as /api/v1/partner/skills?limit=10.
	Target string
	// OnBehalfOf is the value of the x-on-behalf-of header, or empty if the header is not sent.
	OnBehalfOf string
	// IdempotencyKey is the value of the Idempotency-Key header, or empty if the header is not sent.
	IdempotencyKey string
	// Body is the request body exactly as sent, or nil if there is none.
	Body []byte
}

// LinesToSign returns the string that is signed for a partner request: seven lines.
func LinesToSign(input SignInput) string {
	digest := sha256.Sum256(input.Body)
	return strings.Join([]string{
		"VFN1",
		strconv.FormatInt(input.Timestamp, 10),
		strings.ToUpper(input.Method),
		input.Target,
		input.OnBehalfOf,
		input.IdempotencyKey,
		hex.EncodeToString(digest[:]),
	}, "\n")
}

// Sign returns the value of the x-signature header.
func Sign(input SignInput) string {
	mac := hmac.New(sha256.New, []byte(input.Secret))
	mac.Write([]byte(LinesToSign(input)))
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}
