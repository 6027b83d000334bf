import { linesToSign, sign } from '../../sdk/sign.ts'
import { type Credentials, findKeyError } from './credentials.ts'
import type { Operation } from './operations.ts'

/** Values that the user entered: parameters by name, and the body as text. */
export interface RequestValues {
  parameters: Record<string, string>
  body: string
}

/** Error messages by field: the name of a parameter, `body`, or a field of the credentials. */
export type FieldErrors = Record<string, string>

export interface SentRequest {
  method: string
  target: string
  headers: Record<string, string>
  body: string | undefined
  /** The seven lines that were signed; undefined for requests that are not signed. */
  signedLines: string | undefined
}

export interface ReceivedResponse {
  status: number
  statusText: string
  durationMs: number
  headers: [name: string, value: string][]
  body: string
}

/** Returns the fields whose values prevent the request. */
export function findErrors(operation: Operation, values: RequestValues, credentials: Credentials): FieldErrors {
  const errors: FieldErrors = {}
  const add = (field: string, message: string | undefined) => {
    if (message) errors[field] = message
  }
  if (operation.credentials.includes('signature')) {
    add('keyId', findKeyError(credentials.keyId, 'VFN'))
    if (credentials.secret === '') add('secret', 'Enter the secret of the key, which starts with VFN_SK_.')
  }
  if (operation.credentials.includes('key')) add('sessionKey', findKeyError(credentials.sessionKey, 'VSK'))
  if (operation.credentials.includes('session') && credentials.sessionToken === '')
    add('sessionToken', 'Enter a session token. “Open a session” returns one.')
  for (const { name, required, in: place } of operation.parameters) {
    // An idempotency key is generated if none is entered.
    if (required && place !== 'header' && !values.parameters[name]) add(name, `Enter a value for ${name}.`)
  }
  if (operation.bodyExample !== undefined) add('body', findJsonError(values.body))
  return errors
}

function findJsonError(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return `The body is not valid JSON: ${(error as Error).message}`
  }
}

/** Returns the request with its headers. Requests of the partner API are signed in the browser; the secret is not sent. */
export async function prepareRequest(
  operation: Operation,
  values: RequestValues,
  credentials: Credentials,
): Promise<SentRequest> {
  const { method } = operation
  const enteredValue = (name: string) => values.parameters[name] ?? ''
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(enteredValue(name)))
  const query = operation.parameters
    .filter(({ name, in: place }) => place === 'query' && enteredValue(name) !== '')
    .map(({ name }) => `${encodeURIComponent(name)}=${encodeURIComponent(enteredValue(name))}`)
  const target = query.length > 0 ? `${path}?${query.join('&')}` : path
  const body = operation.bodyExample === undefined ? undefined : values.body
  const headers: Record<string, string> = {}
  for (const { name, in: place } of operation.parameters) {
    if (place !== 'header') continue
    const value = enteredValue(name) || (name === 'Idempotency-Key' ? newIdempotencyKey() : '')
    if (value) headers[name] = value
  }
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (operation.credentials.includes('key')) headers['x-api-key'] = credentials.sessionKey
  if (operation.credentials.includes('session')) headers['x-session-token'] = credentials.sessionToken
  if (!operation.credentials.includes('signature')) return { method, target, headers, body, signedLines: undefined }
  const input = {
    secret: credentials.secret,
    timestamp: Math.floor(Date.now() / 1000),
    method,
    target,
    onBehalfOf: headers['x-on-behalf-of'],
    idempotencyKey: headers['Idempotency-Key'],
    body,
  }
  Object.assign(headers, {
    'x-api-key': credentials.keyId,
    'x-timestamp': String(input.timestamp),
    'x-signature': await sign(input),
  })
  return { method, target, headers, body, signedLines: await linesToSign(input) }
}

/** Sends a request without cookies, so that a signed-in user of the console is not recognised. */
export async function sendRequest({ method, target, headers, body }: SentRequest): Promise<ReceivedResponse> {
  const startedAt = performance.now()
  const response = await fetch(target, {
    method,
    headers,
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  return {
    status: response.status,
    statusText: response.statusText,
    durationMs: Math.round(performance.now() - startedAt),
    headers: [...response.headers],
    body: formatJson(text),
  }
}

function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
