// Package attestry is a client for the Attestry APIs: job mandates, campaigns and results of partner systems,
// verification sessions of students, and the public skill catalogue.
//
// It signs requests, retries them when that is safe, sends idempotency keys, reads lists page by page and verifies
// the signatures of webhooks. It uses the standard library only.
package attestry
