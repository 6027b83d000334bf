import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../server/platform/clock.ts'
import { HOUR } from '../../server/platform/clock.ts'
import { indianTimeOfDay } from '../../server/platform/india-time.ts'
import type { Cleanup } from './cleanup.ts'
import { cloudError, EXOTEL, type ScriptedResponse, WHATSAPP } from './provider.ts'

export const GUPSHUP = {
  provider: 'gupshup',
  user_id: '2000012345',
  password: 'password-of-the-tests',
  from: EXOTEL.from,
  dlt_entity_id: EXOTEL.dlt_entity_id,
  listed_hosts: EXOTEL.listed_hosts,
}

/** A template as a DLT portal stores it: with typed tags. */
export interface PortalTemplate {
  id: string
  header: string
  category: string
  content: string
  status?: 'active' | 'inactive'
}

interface Sms {
  entityId: string
  header: string
  templateId: string
  text: string
  to: string
}

/** Codes of DLT platforms, as Exotel publishes them. The last one has no common code. */
export type OperatorCode =
  | '600 ENTITY_NOT_FOUND'
  | '604 INVALID_ENTITY_ID'
  | '620 HEADER_NOT_FOUND'
  | '630 TEMPLATE_NOT_FOUND'
  | '631 TEMPLATE_INACTIVE'
  | '633 TEMPLATE_NOT_MATCHED'
  | '634 HEADER_NOT_REGISTERED_FOR_TEMPLATE'
  | '635 TEMPLATE_VARIABLE_EXCEEDED_MAX_LENGTH'
  | '637 INVALID_TEMPLATE_ID'
  | '651 EC_INVALID_PROMO_TIME'
  | 'URL_NOT_WHITELISTED'
  | 'INVALID_NUMBER'

const MAX_VARIABLE_LENGTH = 30
const PROMOTIONAL_START = 10 * HOUR
const PROMOTIONAL_END = 21 * HOUR

/** Simulates a mobile operator of India: it checks an SMS against the registrations of the DLT portal. */
export function createOperator(clock: Clock) {
  const templates = new Map<string, PortalTemplate>()
  return {
    entityId: EXOTEL.dlt_entity_id,
    headers: new Set([EXOTEL.from]),
    listedHosts: new Set(EXOTEL.listed_hosts),
    templates,
    /** Returns the error code for an SMS that the mobile operator refuses; undefined if it is delivered. */
    scrub(sms: Sms): OperatorCode | undefined {
      if (!/^\+?91[6-9]\d{9}$/.test(sms.to)) return 'INVALID_NUMBER'
      if (!/^\d{19}$/.test(sms.entityId)) return '604 INVALID_ENTITY_ID'
      if (sms.entityId !== this.entityId) return '600 ENTITY_NOT_FOUND'
      if (!this.headers.has(sms.header)) return '620 HEADER_NOT_FOUND'
      if (!/^\d{19}$/.test(sms.templateId)) return '637 INVALID_TEMPLATE_ID'
      const template = templates.get(sms.templateId)
      if (!template) return '630 TEMPLATE_NOT_FOUND'
      if (template.status === 'inactive') return '631 TEMPLATE_INACTIVE'
      if (template.header !== sms.header) return '634 HEADER_NOT_REGISTERED_FOR_TEMPLATE'
      return checkContent(template, sms.text) ?? checkTime(template)
    },
  }

  function checkContent({ content }: PortalTemplate, text: string): OperatorCode | undefined {
    const tags = [...content.matchAll(/\{#(\w+)#\}/g)].map(([, tag]) => tag!)
    const pattern = content
      .split(/\{#\w+#\}/)
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('(.+)')
    const values = new RegExp(`^${pattern}$`, 'su').exec(text)?.slice(1)
    if (!values) return '633 TEMPLATE_NOT_MATCHED'
    for (const [index, value] of values.entries()) {
      const problem = checkValue(tags[index]!, value)
      if (problem) return problem
    }
    return undefined
  }

  function checkValue(tag: string, value: string): OperatorCode | undefined {
    if (tag === 'url') {
      if (!URL.canParse(value) || /\s/.test(value)) return '633 TEMPLATE_NOT_MATCHED'
      return EXOTEL.listed_hosts.includes(new URL(value).hostname) ? undefined : 'URL_NOT_WHITELISTED'
    }
    if ([...value].length > MAX_VARIABLE_LENGTH) return '635 TEMPLATE_VARIABLE_EXCEEDED_MAX_LENGTH'
    const isAllowed = tag === 'numeric' ? /^\d+$/.test(value) : /^[\p{L}\p{M}\p{N} ]+$/u.test(value)
    return isAllowed ? undefined : '633 TEMPLATE_NOT_MATCHED'
  }

  function checkTime({ category }: PortalTemplate): OperatorCode | undefined {
    const time = indianTimeOfDay(clock.now())
    const isRestricted = category === 'Promotional' || category === 'Service Explicit'
    return isRestricted && (time < PROMOTIONAL_START || time >= PROMOTIONAL_END)
      ? '651 EC_INVALID_PROMO_TIME'
      : undefined
  }
}

/** A template as WhatsApp stores it. */
interface CloudTemplate {
  name: string
  language: string
  components: any[]
}

interface SentMessage {
  channel: 'sms' | 'whatsapp'
  provider: 'exotel' | 'gupshup' | 'whatsapp'
  to: string
  /** The text of an SMS, or the values of a template. */
  text: string
  template: string
  at: number
  form: any
  id: string
}

/**
 * Simulates Exotel, Gupshup and the Cloud API of WhatsApp over HTTP, and an operator that checks every SMS. A message that is refused is
 * listed in `refusals`.
 */
export async function startIndianProviders(t: Cleanup, clock: Clock) {
  const operator = createOperator(clock)
  const cloudTemplates: CloudTemplate[] = []
  const sent: SentMessage[] = []
  const refusals: string[] = []
  /** Responses to the next requests, in place of the usual ones. */
  const nextResponses: ScriptedResponse[] = []
  const server = createServer((request, response) => void respond(request, response))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const options = { delayMs: 0 }
  return { url, operator, cloudTemplates, sent, refusals, nextResponses, options }

  async function respond(request: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { status, body, headers } = answer(request, Buffer.concat(chunks).toString())
    if (options.delayMs > 0) await pause(options.delayMs)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }

  function answer({ url: path, headers }: IncomingMessage, rawBody: string): ScriptedResponse {
    const id = `3562707498794989059-${sent.length + 1}`
    if (path!.endsWith('/messages')) return answerAsWhatsApp(JSON.parse(rawBody), headers.authorization, id)
    const form = Object.fromEntries(new URLSearchParams(rawBody))
    const isGupshup = path === '/GatewayAPI/rest'
    const sms = isGupshup
      ? {
          entityId: form.principalEntityId!,
          header: form.mask!,
          templateId: form.dltTemplateId!,
          text: form.msg!,
          to: form.send_to!,
        }
      : {
          entityId: form.DltEntityId!,
          header: form.From!,
          templateId: form.DltTemplateId!,
          text: form.Body!,
          to: form.To!,
        }
    const { to, text, templateId: template } = sms
    const provider = isGupshup ? 'gupshup' : 'exotel'
    sent.push({ channel: 'sms', provider, to, text, template, at: clock.now(), form, id })
    const scripted = nextResponses.shift()
    if (scripted) return scripted
    const code = operator.scrub(sms)
    if (code) refusals.push(`${code}: ${text}`)
    if (isGupshup && form.password !== GUPSHUP.password) return gupshupError('102', 'Authentication failed')
    return isGupshup
      ? { status: 200, body: { response: { id, phone: to, details: '', status: 'success' } } }
      : { status: 200, body: { SMSMessage: { Sid: id, Status: 'queued', To: to } } }
  }

  function answerAsWhatsApp(body: any, authorization: string | undefined, id: string): ScriptedResponse {
    if (authorization !== `Bearer ${WHATSAPP.access_token}`) return cloudError(401, 190)
    const { name, language, components } = body.template ?? {}
    const values: string[] = (components?.[0]?.parameters ?? []).map(({ text }: any) => text)
    sent.push({
      channel: 'whatsapp',
      provider: 'whatsapp',
      to: body.to,
      text: values.join(' | '),
      template: `${name} ${language?.code}`,
      at: clock.now(),
      form: body,
      id,
    })
    const scripted = nextResponses.shift()
    if (scripted) return scripted
    const problem = findTemplateProblem(body, values)
    if (problem === undefined)
      return { status: 200, body: { messaging_product: 'whatsapp', contacts: [], messages: [{ id: `wamid.${id}` }] } }
    refusals.push(`${problem}: ${JSON.stringify(body.template)}`)
    return cloudError(400, problem)
  }

  /** Returns the error code of WhatsApp for a message outside the 24-hour window. */
  function findTemplateProblem(body: any, values: string[]): number | undefined {
    if (body.type !== 'template') return 131047
    const { name, language } = body.template
    const template = cloudTemplates.find((each) => each.name === name && each.language === language.code)
    if (!template) return 132001
    const count = new Set(template.components[0].text.match(/\{\{\d+\}\}/g)).size
    if (values.length !== count) return 132000
    return values.some((value) => !value || value.length > 1024 || /[\n\t]| {4}/.test(value)) ? 132012 : undefined
  }
}

export function gupshupError(code: string, details: string): ScriptedResponse {
  return { status: 200, body: { response: { id: code, phone: '', details, status: 'error' } } }
}

/** Reads the rows of a CSV file for DLT portals, as a portal does, and assigns an ID to each template. */
export function registerAtPortal(csv: string, operator: ReturnType<typeof createOperator>): string {
  const ids = csv
    .trim()
    .split('\r\n')
    .slice(1)
    .map((line) => {
      const cells = [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell]) =>
        cell!.replace(/^"|"$/g, '').replaceAll('""', '"'),
      )
      const [name, , category, header, , content] = cells as [string, string, string, string, string, string]
      const id = `1107${String(operator.templates.size + 1).padStart(15, '0')}`
      operator.templates.set(id, { id, header, category, content })
      return `${name},${id}`
    })
  return ['Template Name,Template ID', ...ids].join('\n')
}
