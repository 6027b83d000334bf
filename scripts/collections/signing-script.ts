/** Text of a JavaScript function that both tools run. Both provide the library crypto-js to scripts. */
const SIGN_FUNCTION = `const cryptoJs = require('crypto-js')

function sign({ timestamp, method, target, onBehalfOf, idempotencyKey, body, secret }) {
  const hash = cryptoJs.SHA256(body).toString()
  const text = ['VFN1', timestamp, method, target, onBehalfOf, idempotencyKey, hash].join('\\n')
  return 'v1=' + cryptoJs.HmacSHA256(text, secret).toString()
}

// Percent-encodes characters that cannot be sent in a URL, because the signature contains the path and query exactly as sent.
function encodeTarget(url) {
  return encodeURI(url.replace(/^https?:\\/\\/[^/]+/, '')).replace(/%25([0-9A-Fa-f]{2})/g, '%$1')
}
`

const MISSING_KEY = `'Set the variables keyId and secret to a TEST key. The first start of a server stores one in .attestry/demo-keys.json.'`

/** Pre-request script of the Postman collection: adds the headers that sign a request of the partner API. */
export const postmanSigningScript = `${SIGN_FUNCTION}
const keyId = pm.variables.get('keyId')
const secret = pm.variables.get('secret')
if (!keyId || !secret) throw new Error(${MISSING_KEY})

function headerValue(name) {
  const header = pm.request.headers.one(name)
  return header && !header.disabled ? pm.variables.replaceIn(header.value) : ''
}

// A new key for each request. To retry a request, replace the variable in its header with a value of your own.
pm.variables.set('idempotencyKey', pm.variables.replaceIn('{{$guid}}'))

const target = encodeTarget(pm.variables.replaceIn(pm.request.url.toString()))
pm.request.url.update(pm.variables.get('baseUrl').replace(/\\/+$/, '') + target)
const body = pm.request.body && pm.request.body.raw ? pm.variables.replaceIn(pm.request.body.raw) : ''
if (body) pm.request.body.raw = body

const timestamp = String(Math.floor(Date.now() / 1000))
const signature = sign({
  timestamp,
  method: pm.request.method,
  target,
  onBehalfOf: headerValue('x-on-behalf-of'),
  idempotencyKey: headerValue('Idempotency-Key'),
  body,
  secret,
})
pm.request.headers.upsert({ key: 'x-api-key', value: keyId })
pm.request.headers.upsert({ key: 'x-timestamp', value: timestamp })
pm.request.headers.upsert({ key: 'x-signature', value: signature })
`

/** Pre-request script of the Bruno collection: adds the headers that sign a request of the partner API. */
export const brunoSigningScript = `${SIGN_FUNCTION}
const keyId = bru.interpolate('{{keyId}}')
const secret = bru.interpolate('{{secret}}')
if (!keyId.startsWith('VFN_') || !secret.startsWith('VFN_')) throw new Error(${MISSING_KEY})

function headerValue(name) {
  const value = req.getHeader(name)
  return value ? bru.interpolate(value) : ''
}

// A new key for each request. To retry a request, replace the variable in its header with a value of your own.
bru.setVar('idempotencyKey', cryptoJs.lib.WordArray.random(16).toString())

const target = encodeTarget(bru.interpolate(req.getUrl()))
req.setUrl(bru.interpolate('{{baseUrl}}').replace(/\\/+$/, '') + target)
const rawBody = req.getBody({ raw: true })
const body = rawBody ? bru.interpolate(typeof rawBody === 'string' ? rawBody : JSON.stringify(rawBody)) : ''
if (body) req.setBody(body, { raw: true })

const timestamp = String(Math.floor(Date.now() / 1000))
const signature = sign({
  timestamp,
  method: req.getMethod(),
  target,
  onBehalfOf: headerValue('x-on-behalf-of'),
  idempotencyKey: headerValue('Idempotency-Key'),
  body,
  secret,
})
req.setHeader('x-api-key', keyId)
req.setHeader('x-timestamp', timestamp)
req.setHeader('x-signature', signature)
`
