import type { OrgScope } from '../../access/caller.ts'
import { problem } from '../../api/problem.ts'
import { type Candidacy, findCandidacy, flowOf } from '../../campaigns/candidacy.ts'
import { candidatePageUrl, candidateUnsubscribeUrl } from '../../campaigns/candidate-page/links.ts'
import { type CandidateMessage, listMessages } from '../../campaigns/contact/messages.ts'
import { personaOf } from '../../channels/simulator/test-numbers.ts'
import type { Context } from '../../context.ts'
import { currentPrompts } from '../../conversation/conversation.ts'
import { type RenderedPrompt, render } from '../../conversation/render.ts'
import { HIDDEN_CODE } from '../../mail/mail.ts'
import { ERASED } from '../../people/identity/person-key.ts'
import type { Queries } from '../../platform/database/database.ts'
import type { Language } from '../../platform/text/languages.ts'
import type { OrgAccess } from '../auth/guards.ts'
import { isAtLeast, mayEditOwnQuestions } from '../auth/roles.ts'
import {
  findPrivateTexts,
  hidePrivateContent,
  hidePrivatePrompt,
  type PrivateTexts,
} from '../questions/private-questions.ts'
import { type PreviewContext, previewMessages } from './message-preview.ts'
import { findNextContactTime, type SimulatorPhoneRow } from './simulator-phones.ts'

interface PhoneToShow extends SimulatorPhoneRow {
  /** The texts to replace in the last message. */
  privateTexts: PrivateTexts | undefined
}

/** Adds the texts that the caller may not see. */
export async function withPrivateTexts(
  queries: Queries,
  scope: OrgScope,
  rows: SimulatorPhoneRow[],
  access: OrgAccess,
): Promise<PhoneToShow[]> {
  if (mayEditOwnQuestions(access)) return rows.map((row) => ({ ...row, privateTexts: undefined }))
  const textsByFlow = new Map<string, PrivateTexts | undefined>()
  const phones: PhoneToShow[] = []
  for (const row of rows) {
    const { mandate_id, flow_version } = row
    const flowKey = `${mandate_id} ${flow_version}`
    if (!textsByFlow.has(flowKey))
      textsByFlow.set(flowKey, findPrivateTexts(await flowOf(queries, scope, mandate_id, flow_version)))
    phones.push({ ...row, privateTexts: textsByFlow.get(flowKey) })
  }
  return phones
}

export function simulatorPhoneRecord({ privateTexts, mandate_id: _, flow_version: __, ...row }: PhoneToShow) {
  const { conversation, direction, last_channel, content, last_at, updated_at, ...otherFields } = row
  return {
    ...otherFields,
    part: personaOf(row) ?? null,
    language: (JSON.parse(conversation) as { language: Language }).language,
    last:
      direction === null
        ? null
        : { direction, channel: last_channel!, text: messageText(content!, privateTexts), at: last_at!.toISOString() },
    updated_at: updated_at.toISOString(),
  }
}

function messageText(content: CandidateMessage['content'], privateTexts: PrivateTexts | undefined): string {
  const parsed = hidePrivateContent(content, privateTexts)
  return Array.isArray(parsed) ? (parsed.at(-1)?.text ?? '') : (parsed.text ?? parsed.value ?? '')
}

export async function getCandidate(queries: Queries, { orgId, mode }: OrgScope, id: string): Promise<Candidacy> {
  const candidacy = await findCandidacy(queries, id)
  if (candidacy?.org_id !== orgId || candidacy.mode !== mode) throw problem('NOT_FOUND', `Candidate ${id} not found.`)
  return candidacy
}

/**
 * Returns a candidate with the whole conversation. The role decides whether the link to the candidate's page is included, and whether
 * the texts of private questions are replaced.
 */
export async function candidateRecord(
  queries: Queries,
  context: Pick<Context, 'vault' | 'config'>,
  candidate: Candidacy,
  access: OrgAccess,
) {
  const { state, flow, status, mode } = candidate
  const privateTexts = mayEditOwnQuestions(access) ? undefined : findPrivateTexts(flow)
  const isOpen = status === 'pending' && candidate.hold !== 'archived'
  const nextContactAt = await findNextContactTime(queries, candidate.candidate_id)
  // The link gives access without signing in: in LIVE only the candidate gets it, in TEST also recruiters, who may reply. The page shows
  // private questions.
  const isErased = candidate.person_key === null
  const mayOpenPage = mode === 'test' && isAtLeast(access.role, 'recruiter') && !privateTexts && !isErased
  const link = mayOpenPage ? candidatePageUrl(context, candidate) : null
  const preview = {
    languages: flow.languages,
    language: state.language,
    link: link ?? redactedLink(context),
    unsubscribeUrl: link === null ? redactedLink(context) : candidateUnsubscribeUrl(context, candidate),
  }
  const asking = isOpen ? currentPrompts(state, flow).map((prompt) => render(prompt, state, flow, candidate)) : []
  const messages = await listMessages(queries, candidate.candidate_id)
  return {
    candidate_id: candidate.candidate_id,
    campaign_id: candidate.campaign_id,
    mandate_id: candidate.mandate_id,
    result_id: candidate.result_id,
    external_candidate_id: candidate.external_candidate_id,
    name: candidate.name,
    phone: candidate.phone,
    email: candidate.email,
    metadata: candidate.metadata,
    part: personaOf(candidate) ?? null,
    status,
    reason: candidate.reason,
    language: state.language,
    channel: candidate.channel,
    contact_step: candidate.contact_step,
    flow_version: candidate.flow_version,
    link,
    erased: isErased,
    started_at: candidate.started_at?.toISOString() ?? null,
    completed_at: candidate.completed_at?.toISOString() ?? null,
    updated_at: candidate.updated_at.toISOString(),
    asking: asking.map((prompt) => hidePrivatePrompt(prompt, privateTexts)),
    next_contact_at: nextContactAt?.toISOString() ?? null,
    messages: messageRecords(
      messages.map((message) => ({ ...message, content: shownContent(message.content, mode, privateTexts) })),
      isErased ? undefined : preview,
    ),
  }
}

/** Replaces what the caller may not read: private questions, and confirmation codes in LIVE mode. */
function shownContent(
  content: CandidateMessage['content'],
  mode: Candidacy['mode'],
  privateTexts: PrivateTexts | undefined,
): CandidateMessage['content'] {
  const shown = hidePrivateContent(content, privateTexts)
  if (mode !== 'live' || !Array.isArray(shown)) return shown
  return shown.map(({ code: _, ...part }) => (part.isCode ? { ...part, text: HIDDEN_CODE } : part))
}

/** Returns a placeholder for the link, without its token. */
function redactedLink({ config }: Pick<Context, 'config'>): string {
  return `${config.publicUrl ?? ''}/…`
}

/**
 * Replaces chosen values with their labels, and adds the exact text of plain-text messages. `preview` is undefined if the
 * person was erased; messages to them then show the marker.
 */
function messageRecords(messages: CandidateMessage[], preview: PreviewContext | undefined) {
  const labels = new Map<string, string>()
  const previews = preview ? previewMessages(messages, preview) : messages.map(() => ERASED)
  return messages.map(({ content, created_at, conversation_step, candidate_id: _, ...message }, index) => {
    const parts: RenderedPrompt[] = Array.isArray(content) ? content : []
    for (const { choices } of parts) for (const { value, label } of choices) labels.set(value, label)
    const replyText = Array.isArray(content)
      ? undefined
      : (content.text ?? labels.get(content.value ?? '') ?? content.value)
    const text = replyText ?? previews[index] ?? ''
    return { ...message, step: conversation_step, parts, text, at: created_at.toISOString() }
  })
}
