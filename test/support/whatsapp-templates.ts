import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Cleanup } from './cleanup.ts'
import { cloudError, type ScriptedResponse, WHATSAPP } from './provider.ts'

export const BUSINESS_ACCOUNT_ID = '102290129340398'
const PAGE_SIZE = 25

interface StoredTemplate {
  id: string
  name: string
  language: string
  status: string
  category: string
  components: any[]
  quality_score: { score: string }
  rejected_reason: string
}

/** Simulates the template API of WhatsApp, with the documented rules for bodies and buttons. Tests review the templates. */
export async function startTemplateApi(t: Cleanup) {
  const templates: StoredTemplate[] = []
  const server = createServer((request, response) => void respond(request, response))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, templates }

  async function respond(request: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { status, body } = answer(request, Buffer.concat(chunks).toString())
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }

  function answer({ url, method, headers }: IncomingMessage, text: string): ScriptedResponse {
    if (headers.authorization !== `Bearer ${WHATSAPP.access_token}`) return cloudError(401, 190)
    const { pathname, searchParams } = new URL(url!, 'http://localhost')
    if (!new RegExp(`^/v\\d+\\.\\d/${BUSINESS_ACCOUNT_ID}/message_templates$`).test(pathname))
      return cloudError(400, 100)
    if (method === 'GET') return listPage(Number(searchParams.get('after') ?? 0))
    const template = JSON.parse(text)
    const invalidField = findInvalidPart(template)
    if (invalidField !== undefined) return cloudError(400, 100, `Invalid parameter: ${invalidField}`)
    if (templates.some(({ name, language }) => name === template.name && language === template.language))
      return cloudError(400, 100, 'Content in this language already exists')
    const id = String(594425479261596 + templates.length)
    templates.push({ ...template, id, status: 'PENDING', quality_score: { score: 'UNKNOWN' }, rejected_reason: 'NONE' })
    return { status: 200, body: { id, status: 'PENDING', category: template.category } }
  }

  function listPage(start: number): ScriptedResponse {
    const end = start + PAGE_SIZE
    const hasMore = end < templates.length
    return {
      status: 200,
      body: {
        data: templates.slice(start, end),
        paging: {
          cursors: { before: String(start), after: String(end) },
          ...(hasMore ? { next: 'https://graph.facebook.com/next' } : {}),
        },
      },
    }
  }
}

const WHATSAPP_LANGUAGES = ['en', 'hi', 'bn', 'ta', 'te', 'mr', 'gu', 'kn', 'ml', 'pa']

function findInvalidPart({ name, language, category, components }: any): string | undefined {
  if (!/^[a-z0-9_]{1,512}$/.test(name)) return 'name'
  if (!WHATSAPP_LANGUAGES.includes(language)) return 'language'
  if (!['MARKETING', 'UTILITY'].includes(category)) return 'category'
  const body = components.find(({ type }: any) => type === 'BODY')
  const numbers = [...body.text.matchAll(/\{\{(\d+)\}\}/g)].map(([, number]: string[]) => Number(number))
  if (body.text.length > 1024 || /\n{3}| {4}|\t/.test(body.text)) return 'body'
  if (/^\s*\{\{|\}\}\s*$/.test(body.text)) return 'leading or trailing variable'
  if (/\}\}\s*\{\{/.test(body.text)) return 'adjacent variables'
  if (numbers.some((number, index) => number !== index + 1)) return 'order of variables'
  if (body.example.body_text[0].length !== numbers.length) return 'example'
  const buttons = components.find(({ type }: any) => type === 'BUTTONS')?.buttons ?? []
  if (buttons.some(({ type, text }: any) => type !== 'QUICK_REPLY' || !text || text.length > 25)) return 'buttons'
  return undefined
}
