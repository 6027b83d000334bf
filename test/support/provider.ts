import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { withSettingsTemplates } from '../../server/channels/templates/register.ts'
import { twilioSignature } from '../../server/channels/twilio/twilio.ts'
import type { Cleanup } from './cleanup.ts'

export const WHATSAPP = {
  phone_number_id: '106540352242922',
  access_token: 'EAAG-of-the-tests',
  app_secret: 'app-secret-of-the-tests',
  verify_token: 'verify-token-of-the-tests',
  template: { name: 'job_questions', languages: ['en', 'hi'] },
}
export const TWILIO = { account_sid: `AC${'0123456789abcdef'.repeat(2)}`, auth_token: 'auth-token-of-the-tests' }

/** Settings of Exotel, with the templates that the fake operator has registered. */
export const EXOTEL = {
  provider: 'exotel',
  account_sid: 'metro1',
  api_key: 'api-key-of-the-tests',
  api_token: 'api-token-of-the-tests',
  from: 'METROJ',
  dlt_entity_id: '1101000000000000001',
  templates: [
    {
      purpose: 'invitation',
      language: 'en',
      template_id: '1107000000000000001',
      text: 'Acme Staffing invites you to answer a few questions about the job of {title}. Answer here: {link}',
    },
    {
      purpose: 'invitation',
      language: 'hi',
      template_id: '1107000000000000002',
      text: 'Acme Staffing: {title} की नौकरी के लिए कुछ सवालों के जवाब दें: {link}',
    },
    {
      purpose: 'follow_up',
      language: 'en',
      template_id: '1107000000000000003',
      text: 'Acme Staffing is still waiting for your answers about the job of {title}. Answer here: {link}',
    },
    {
      purpose: 'code',
      language: 'en',
      template_id: '1107000000000000004',
      text: '{code} is your code for your request to Acme Staffing.',
    },
  ],
  listed_hosts: ['127.0.0.1'],
}

/** Settings of calls through Exotel, with the caller ID and the call flow that the simulated account has. */
export const EXOTEL_VOICE = {
  provider: 'exotel',
  account_sid: EXOTEL.account_sid,
  api_key: EXOTEL.api_key,
  api_token: EXOTEL.api_token,
  app_id: '29281',
  from: '01409123456',
}

/** Returns settings as adapters get them: with the templates that the settings contain. */
export function withTemplates<T extends object>(channel: 'sms' | 'whatsapp', settings: T) {
  const credentials = settings as Record<string, unknown>
  return { ...settings, registered_templates: withSettingsTemplates([], { channel, credentials }) }
}

export interface ProviderRequest {
  path: string
  headers: IncomingMessage['headers']
  /** The parsed JSON body, or the fields of a form. */
  body: any
  /** The ID of the message or call that the simulated provider returned. */
  id: string
}

export interface ScriptedResponse {
  status: number
  body?: unknown
  headers?: Record<string, string>
}

/**
 * Replaces the usual response to a request. A function is awaited before the response that it returns, or the usual one; `hang`: no response; `reset`: the
 * connection is reset once the request is read; `cut`: the connection is closed in the middle of a successful response.
 */
export type ProviderBehaviour =
  | ScriptedResponse
  | 'hang'
  | 'reset'
  | 'cut'
  | ((received: ProviderRequest) => Promise<ScriptedResponse | undefined>)

/**
 * Simulates the parts of WhatsApp's Cloud API, and of the REST APIs of Twilio and Exotel, that we use, on loopback and according to their
 * documentation.
 */
export async function startProvider(t: Cleanup) {
  const received: ProviderRequest[] = []
  /** Behaviours of the next requests, in order. */
  const nextBehaviours: ProviderBehaviour[] = []
  let requestCount = 0
  const server = createServer((request, response) => void respond(request, response))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    received,
    nextBehaviours,
    /** Received requests of one kind, oldest first. */
    requestsOfKind: (kind: 'messages' | 'Messages' | 'Calls') =>
      received.filter(({ path }) => path.includes(`/${kind}`)),
  }

  async function respond(request: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const rawBody = Buffer.concat(chunks).toString()
    const path = request.url!
    const isCloud = path.endsWith('/messages')
    const body = isCloud ? JSON.parse(rawBody) : Object.fromEntries(new URLSearchParams(rawBody))
    const behaviour = nextBehaviours.shift()
    const id = `${isCloud ? 'wamid.' : path.includes('/Calls') ? 'CA' : 'SM'}${String(++requestCount).padStart(32, '0')}`
    received.push({ path, headers: request.headers, body, id })
    if (behaviour === 'hang') return
    const ownResponse = typeof behaviour === 'function' ? await behaviour(received.at(-1)!) : undefined
    if (behaviour === 'reset') return void request.socket.resetAndDestroy()
    if (behaviour === 'cut') {
      response.writeHead(isCloud ? 200 : 201, { 'content-type': 'application/json', 'content-length': '500' })
      response.write('{"messages": [')
      return void setTimeout(() => request.socket.destroy(), 20)
    }
    const scriptedResponse = typeof behaviour === 'object' ? behaviour : ownResponse
    const { status, body: text, headers } = scriptedResponse ?? respondAs(request, body, id)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof text === 'string' ? text : JSON.stringify(text))
  }
}

function respondAs(request: IncomingMessage, body: any, id: string): ScriptedResponse {
  if (request.url!.endsWith('/messages')) return respondAsCloudApi(request, body, id)
  if (!request.url!.startsWith('/v1/')) return respondAsTwilio(request, body, id)
  return respondAsExotel(request, body, id)
}

export function exotelError(status: number, code: string, message = 'rejected'): ScriptedResponse {
  return { status, body: { RestException: { Status: status, Message: message, Code: code } } }
}

function respondAsExotel(request: IncomingMessage, form: Record<string, string>, id: string): ScriptedResponse {
  const { account_sid, api_key, api_token } = EXOTEL
  const { headers, url, method } = request
  if (headers.authorization !== `Basic ${Buffer.from(`${api_key}:${api_token}`).toString('base64')}`)
    return exotelError(401, 'UNAUTHORIZED')
  const account = `/v1/Accounts/${account_sid}`
  if (method === 'GET' && url!.startsWith(`${account}/Calls/`))
    return { status: 200, body: { Call: { Sid: url!.split('/').at(-1)!.replace('.json', ''), Price: '1.250000' } } }
  if (url === `${account}/Calls/connect.json`) return respondToExotelCall(form, id)
  return url === `${account}/Sms/send.json` ? respondToExotelSms(form, id) : exotelError(404, 'NOT_FOUND')
}

/** Accepts calls to Indian numbers with the caller ID and the call flow of the account. */
function respondToExotelCall(form: Record<string, string>, id: string): ScriptedResponse {
  const { account_sid, app_id, from } = EXOTEL_VOICE
  if (!/^\+91\d{10}$/.test(form.From ?? '')) return exotelError(400, 'INVALID_NUMBER')
  if (form.CallerId !== from) return exotelError(403, 'FORBIDDEN', 'CallerId is not an ExoPhone of this account')
  if (form.Url !== `http://my.exotel.com/${account_sid}/exoml/start_voice/${app_id}`)
    return exotelError(400, 'INVALID_URL')
  if (Number(form.TimeLimit ?? 0) > 14_400) return exotelError(400, 'INVALID_TIME_LIMIT')
  return { status: 200, body: { Call: { Sid: id, Status: 'in-progress', From: form.From, PhoneNumberSid: from } } }
}

/** Accepts the messages that an operator would deliver: those whose text matches the registered template. */
function respondToExotelSms(form: Record<string, string>, id: string): ScriptedResponse {
  const { from, dlt_entity_id, templates, listed_hosts } = EXOTEL
  if (form.From !== from) return exotelError(400, 'INVALID_SENDER')
  if (!/^\+91\d{10}$/.test(form.To ?? '')) return exotelError(400, 'INVALID_NUMBER')
  if (form.DltEntityId !== dlt_entity_id) return exotelError(400, 'DLT_ENTITY')
  const template = templates.find(({ template_id }) => template_id === form.DltTemplateId)
  if (!template) return exotelError(400, 'DLT_TEMPLATE')
  const pattern = template.text
    .split(/\{\w+\}/)
    .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('(.+)')
  const values = new RegExp(`^${pattern}$`, 'u').exec(form.Body ?? '')?.slice(1)
  if (!values) return exotelError(400, 'DLT_TEMPLATE_MISMATCH')
  for (const value of values) {
    const isAllowed = /^https?:/.test(value)
      ? listed_hosts.includes(new URL(value).hostname)
      : /^[\p{L}\p{M}\p{N} -]{1,30}$/u.test(value)
    if (!isAllowed) return exotelError(400, 'DLT_VARIABLE')
  }
  return { status: 200, body: { SMSMessage: { Sid: id, Status: 'queued', To: form.To } } }
}

export function cloudError(status: number, code: number, message = `(#${code}) rejected`): ScriptedResponse {
  return {
    status,
    body: {
      error: { message, type: 'OAuthException', code, error_data: { messaging_product: 'whatsapp', details: '' } },
    },
  }
}

export function twilioError(status: number, code: number, message = 'rejected'): ScriptedResponse {
  return { status, body: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status } }
}

function respondAsCloudApi({ headers, url }: IncomingMessage, body: any, id: string): ScriptedResponse {
  if (headers.authorization !== `Bearer ${WHATSAPP.access_token}`) return cloudError(401, 190)
  if (!/^\/v\d+\.\d\/106540352242922\/messages$/.test(url!)) return cloudError(400, 100)
  if (headers['content-type'] !== 'application/json' || body.messaging_product !== 'whatsapp')
    return cloudError(400, 100)
  const invalidField = findInvalidField(body)
  if (invalidField) return cloudError(400, 131009, invalidField)
  const contacts = [{ input: body.to, wa_id: body.to }]
  return { status: 200, body: { messaging_product: 'whatsapp', contacts, messages: [{ id }] } }
}

/** Checks the limits of the message type and returns the first field that violates a limit. */
function findInvalidField(body: any): string | undefined {
  const isWithin = (text: unknown, maxLength: number) =>
    typeof text === 'string' && text.length > 0 && text.length <= maxLength
  if (!/^\d{7,15}$/.test(body.to)) return 'to'
  if (body.type === 'text') return isWithin(body.text.body, 4096) ? undefined : 'text'
  if (body.type === 'template') {
    const [bodyComponent, ...buttons] = body.template.components
    const texts = bodyComponent.parameters.map(({ text }: any) => text)
    if (bodyComponent.type !== 'body' || texts.length !== 4) return 'template body'
    if (texts.some((text: string) => !isWithin(text, 1024) || /[\n\t]| {5}/.test(text))) return 'template text'
    return buttons.every(({ sub_type, parameters }: any) => sub_type === 'quick_reply' && parameters[0].payload)
      ? undefined
      : 'template buttons'
  }
  const { type, body: interactiveBody, action } = body.interactive
  if (!isWithin(interactiveBody.text, 1024)) return 'body'
  if (type === 'button') {
    const { buttons } = action
    const titles = new Set(buttons.map(({ reply }: any) => reply.title))
    if (buttons.length < 1 || buttons.length > 3 || titles.size !== buttons.length) return 'buttons'
    return buttons.every(({ reply }: any) => isWithin(reply.title, 20) && isWithin(reply.id, 256))
      ? undefined
      : 'button'
  }
  const rows = action.sections.flatMap((section: any) => section.rows)
  if (type !== 'list' || !isWithin(action.button, 20) || rows.length < 1 || rows.length > 10) return 'list'
  return rows.every(
    ({ id, title, description }: any) =>
      isWithin(id, 200) && isWithin(title, 24) && (description === undefined || isWithin(description, 72)),
  )
    ? undefined
    : 'row'
}

function respondAsTwilio(
  { headers, url }: IncomingMessage,
  form: Record<string, string>,
  id: string,
): ScriptedResponse {
  const { account_sid, auth_token } = TWILIO
  const expectedAuthorization = `Basic ${Buffer.from(`${account_sid}:${auth_token}`).toString('base64')}`
  if (headers.authorization !== expectedAuthorization) return twilioError(401, 20003)
  const resource = new RegExp(`^/2010-04-01/Accounts/${account_sid}/(Messages|Calls)\\.json$`).exec(url!)?.[1]
  if (!resource) return twilioError(404, 20404)
  if (headers['content-type'] !== 'application/x-www-form-urlencoded') return twilioError(400, 20001)
  if (!form.To) return twilioError(400, 21604)
  if (!form.From && !form.MessagingServiceSid) return twilioError(400, 21603)
  if (!/^\+[1-9]\d{6,14}$/.test(form.To)) return twilioError(400, 21211)
  if (resource === 'Messages' && (!form.Body || form.Body.length > 1600)) return twilioError(400, 21617)
  if (resource === 'Calls' && !URL.canParse(form.Url ?? '')) return twilioError(400, 21205)
  return { status: 201, body: { sid: id, status: 'queued', to: form.To } }
}

/** Returns a signed webhook request of the Cloud API with messages or statuses. */
export function cloudWebhook(
  value: { messages?: object[]; statuses?: object[]; contacts?: object[] },
  secret = WHATSAPP.app_secret,
) {
  const metadata = { display_phone_number: '911140000000', phone_number_id: WHATSAPP.phone_number_id }
  const change = { field: 'messages', value: { messaging_product: 'whatsapp', metadata, ...value } }
  const body = JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: '1', changes: [change] }] })
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
    body,
  }
}

/** Returns a signed webhook request of Twilio. */
export function twilioWebhook(url: string, fields: Record<string, string>, token = TWILIO.auth_token) {
  const form = new URLSearchParams({ AccountSid: TWILIO.account_sid, ...fields })
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': twilioSignature(token, url, form),
    },
    body: form.toString(),
  }
}
