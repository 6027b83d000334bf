import { problem } from '../../api/problem.ts'
import { SendError } from '../channel.ts'
import { getFrom, type ProviderResponse, postTo } from '../provider.ts'
import type { WhatsAppSettings } from '../settings.ts'
import { whatsappRequest } from '../templates/export.ts'
import type { RegistryReport } from '../templates/register.ts'
import {
  type MessageTemplate,
  type TemplateQuality,
  type TemplateStatus,
  toNumberedText,
} from '../templates/template.ts'
import { API_URL, API_VERSION } from './whatsapp.ts'

const MAX_PAGES = 50
const PAGE_SIZE = 100

/** Statuses in the register by their name at WhatsApp. */
const statuses: Record<string, TemplateStatus> = {
  APPROVED: 'approved',
  REINSTATED: 'approved',
  PENDING: 'pending',
  IN_APPEAL: 'pending',
  REJECTED: 'rejected',
  PAUSED: 'paused',
  FLAGGED: 'approved',
  DISABLED: 'disabled',
  LIMIT_EXCEEDED: 'disabled',
  PENDING_DELETION: 'disabled',
  DELETED: 'disabled',
}

export function readTemplateStatus(value: unknown): TemplateStatus | undefined {
  return typeof value === 'string' && Object.hasOwn(statuses, value.toUpperCase())
    ? statuses[value.toUpperCase()]
    : undefined
}

/** Reads a quality rating; null if WhatsApp has none yet. */
export function readQuality(value: unknown): TemplateQuality | null {
  const rating = typeof value === 'string' ? value.toLowerCase() : ''
  return rating === 'green' || rating === 'yellow' || rating === 'red' ? rating : null
}

export function readCategory(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Z_]{1,40}$/.test(value) ? value.toLowerCase() : undefined
}

/** Creates a template at WhatsApp, and returns WhatsApp's report about it. Throws a problem with WhatsApp's reason if it is rejected. */
export async function createAtWhatsApp(
  settings: WhatsAppSettings,
  template: MessageTemplate,
  signal: AbortSignal,
): Promise<RegistryReport> {
  const request = whatsappRequest(template)
  const response = await callGraph(() =>
    postTo(templatesUrl(settings), authorization(settings), JSON.stringify(request), signal),
  )
  const { id, status, category } = (response.body ?? {}) as Record<string, unknown>
  return {
    name: request.name,
    languageCode: request.language,
    registryId: typeof id === 'string' ? id : undefined,
    numberedText: toNumberedText(template.text),
    status: readTemplateStatus(status) ?? 'pending',
    category: readCategory(category),
  }
}

/** Returns the text, status, category and quality of all templates of the WhatsApp Business account. */
export async function fetchFromWhatsApp(settings: WhatsAppSettings, signal: AbortSignal): Promise<RegistryReport[]> {
  const reports: RegistryReport[] = []
  let after: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = new URLSearchParams({
      fields: 'id,name,language,status,category,quality_score,rejected_reason,components',
      limit: String(PAGE_SIZE),
      ...(after === undefined ? {} : { after }),
    })
    const response = await callGraph(() =>
      getFrom(`${templatesUrl(settings)}?${query}`, authorization(settings), signal),
    )
    const { data, paging } = (response.body ?? {}) as {
      data?: Record<string, unknown>[]
      paging?: { next?: unknown; cursors?: { after?: unknown } }
    }
    reports.push(...(Array.isArray(data) ? data : []).flatMap(readTemplate))
    const next = paging?.cursors?.after
    if (typeof next !== 'string' || paging?.next === undefined) return reports
    after = next
  }
  return reports
}

function readTemplate(template: Record<string, unknown>): RegistryReport[] {
  const { id, name, language, status, category, quality_score, rejected_reason, components } = template
  if (typeof name !== 'string' || typeof language !== 'string') return []
  const reason = typeof rejected_reason === 'string' && rejected_reason !== 'NONE' ? rejected_reason : null
  return [
    {
      name,
      languageCode: language,
      registryId: typeof id === 'string' ? id : undefined,
      numberedText: readBodyText(components),
      status: readTemplateStatus(status),
      statusReason: reason,
      category: readCategory(category),
      quality: readQuality((quality_score as { score?: unknown } | null | undefined)?.score),
    },
  ]
}

/** Returns the text of the body; an empty text if there is none, which is the text of no template. */
function readBodyText(components: unknown): string {
  const body = (Array.isArray(components) ? components : []).find(
    (component: { type?: unknown } | null) => component?.type === 'BODY',
  ) as { text?: unknown } | undefined
  return typeof body?.text === 'string' ? body.text : ''
}

function templatesUrl({ base_url = API_URL, version = API_VERSION, business_account_id }: WhatsAppSettings): string {
  if (!business_account_id)
    throw problem(
      'CONFLICT',
      'The settings of WhatsApp have no business_account_id. Add the ID of the WhatsApp Business account to them.',
    )
  return `${base_url.replace(/\/+$/, '')}/${version}/${business_account_id}/message_templates`
}

function authorization({ access_token }: WhatsAppSettings): Record<string, string> {
  return { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
}

/** Throws a problem with WhatsApp's reason, without the request, which contains the access token. */
async function callGraph(call: () => Promise<ProviderResponse>): Promise<ProviderResponse> {
  const response = await call().catch((error: unknown) => {
    if (error instanceof SendError) throw problem('CONFLICT', `WhatsApp could not be reached: ${error.message}.`)
    throw error
  })
  if (response.status >= 200 && response.status < 300) return response
  const { error } = (response.body ?? {}) as {
    error?: { code?: unknown; message?: unknown; error_user_msg?: unknown; error_user_title?: unknown }
  }
  const reason = [error?.code, error?.error_user_title ?? error?.message, error?.error_user_msg]
    .filter(Boolean)
    .join(', ')
  throw problem('CONFLICT', `WhatsApp refused the request (HTTP ${response.status}): ${reason || 'no reason given'}.`)
}
