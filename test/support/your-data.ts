import { findCandidacy } from '../../server/campaigns/candidacy.ts'
import { candidatePageUrl } from '../../server/campaigns/candidate-page/links.ts'
import { contactNow } from '../../server/campaigns/contact/engine.ts'
import { listMessages } from '../../server/campaigns/contact/messages.ts'
import { getEmail, listEmails } from '../../server/mail/mail.ts'
import type { SubjectKind } from '../../server/notices/notice.ts'
import type { TestApp } from './app.ts'
import { aCandidate, createCampaignPartner } from './partners.ts'

/** Calls the API of the page about personal data with the token of a link. */
export function yourDataCalls(app: TestApp, kind: SubjectKind, token: string) {
  const base = `/api/v1/your-data/${kind}`
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const post = (path: string, body: object) =>
    app.fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return {
    view: (language = 'en') => app.fetch(`${base}?lang=${language}`, { headers: { authorization: `Bearer ${token}` } }),
    agree: () => post('/consent', { language: 'en' }),
    start: (action: string, channel: 'phone' | 'email', more: object = {}) =>
      post('/requests', { action, channel, language: 'en', ...more }),
    confirm: (requestId: string, body: object) => post(`/requests/${requestId}/confirm`, body),
  }
}

/** Enrols a candidate in TEST mode, contacts them, and returns calls with their link. */
export async function contactTestCandidate(app: TestApp, candidateFields: object = {}, campaignFields: object = {}) {
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate({ languages: ['en', 'hi'] })
  const { campaign } = await partner.createCampaign(
    mandate_id,
    [aCandidate(1, { email: 'person1@example.com', ...candidateFields })],
    campaignFields,
  )
  await contactNow(app.context)
  const { candidate } = (await partner.get('/results')).body.data.items[0]
  const { candidate_id: candidateId } = candidate
  const link = await readLink(app, candidateId)
  return { partner, campaign, candidateId, link, token: link.split('/').at(-1)! }
}

export async function readLink({ context }: TestApp, candidateId: string): Promise<string> {
  return candidatePageUrl(context, (await findCandidacy(context.db.queries, candidateId))!)
}

/** Returns the code in the newest text message to a candidate. */
export async function readPhoneCode({ context }: TestApp, candidateId: string): Promise<string> {
  const messages = await listMessages(context.db.queries, candidateId)
  const texts = messages.map(({ content }) => (Array.isArray(content) ? content.map(({ text }) => text).join(' ') : ''))
  return /\b\d{6}\b/.exec(texts.findLast((text) => /\b\d{6}\b/.test(text)) ?? '')![0]
}

/** Returns the code in the newest email to an address. */
export async function readEmailCode({ context }: TestApp, address: string): Promise<string> {
  for (const { mail_id, to_address } of await listEmails(context.db.queries, {
    kind: 'confirmation_code',
    limit: 50,
  })) {
    if (to_address !== address) continue
    return /\b\d{6}\b/.exec((await getEmail(context.db.queries, context.vault, mail_id)).text)![0]
  }
  throw new Error(`no email to ${address}`)
}
