import type { OrgScope } from '../../access/caller.ts'
import { problem } from '../../api/problem.ts'
import { type Candidacy, findCandidacy } from '../../campaigns/candidacy.ts'
import { candidatePageUrl, candidateUnsubscribeUrl } from '../../campaigns/candidate-page/links.ts'
import { type CandidateMessage, listMessages } from '../../campaigns/contact/messages.ts'
import { personaOf } from '../../channels/simulator/test-numbers.ts'
import type { Context } from '../../context.ts'
import { currentPrompts } from '../../conversation/conversation.ts'
import { type RenderedPrompt, render } from '../../conversation/render.ts'
import type { Queries } from '../../platform/database/database.ts'
import type { Language } from '../../platform/text/languages.ts'
import { type ConsoleRole, isAtLeast } from '../auth/roles.ts'
import { type PreviewContext, previewMessages } from './message-preview.ts'
import { findNextContactTime, type SimulatorPhoneRow } from './simulator-phones.ts'

export function simulatorPhoneRecord(row: SimulatorPhoneRow) {
  const { conversation, direction, last_channel, content, last_at, updated_at, ...otherFields } = row
  return {
    ...otherFields,
    part: personaOf(row.phone) ?? null,
    language: (JSON.parse(conversation) as { language: Language }).language,
    last:
      direction === null
        ? null
        : { direction, channel: last_channel!, text: messageText(content!), at: last_at!.toISOString() },
    updated_at: updated_at.toISOString(),
  }
}

function messageText(content: string): string {
  const parsed = JSON.parse(content) as CandidateMessage['content']
  return Array.isArray(parsed) ? (parsed.at(-1)?.text ?? '') : (parsed.text ?? parsed.value ?? '')
}

export async function getCandidate(queries: Queries, { orgId, mode }: OrgScope, id: string): Promise<Candidacy> {
  const candidacy = await findCandidacy(queries, id)
  if (candidacy?.org_id !== orgId || candidacy.mode !== mode) throw problem('NOT_FOUND', `Candidate ${id} not found.`)
  return candidacy
}

/** Returns a candidate with the whole conversation. The role decides whether the link to the candidate's page is included. */
export async function candidateRecord(
  queries: Queries,
  context: Pick<Context, 'vault' | 'config'>,
  candidate: Candidacy,
  role: ConsoleRole,
) {
  const { state, flow, status, mode } = candidate
  const isOpen = status === 'pending' && candidate.hold !== 'archived'
  const nextContactAt = await findNextContactTime(queries, candidate.candidate_id)
  // The link gives access without signing in: in LIVE only the candidate gets it, in TEST also recruiters, who may reply.
  const link = mode === 'test' && isAtLeast(role, 'recruiter') ? candidatePageUrl(context, candidate) : null
  const preview = {
    languages: flow.languages,
    language: state.language,
    link: link ?? redactedLink(context),
    unsubscribeUrl: link === null ? redactedLink(context) : candidateUnsubscribeUrl(context, candidate),
  }
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
    part: personaOf(candidate.phone) ?? null,
    status,
    reason: candidate.reason,
    language: state.language,
    channel: candidate.channel,
    contact_step: candidate.contact_step,
    flow_version: candidate.flow_version,
    link,
    started_at: candidate.started_at?.toISOString() ?? null,
    completed_at: candidate.completed_at?.toISOString() ?? null,
    updated_at: candidate.updated_at.toISOString(),
    asking: isOpen ? currentPrompts(state, flow).map((prompt) => render(prompt, state, flow, candidate)) : [],
    next_contact_at: nextContactAt?.toISOString() ?? null,
    messages: messageRecords(await listMessages(queries, candidate.candidate_id), preview),
  }
}

/** Returns a placeholder for the link, without its token. */
function redactedLink({ config }: Pick<Context, 'config'>): string {
  return `${config.publicUrl ?? ''}/…`
}

/** Replaces chosen values with their labels, and adds the exact text of plain-text messages. */
function messageRecords(messages: CandidateMessage[], preview: PreviewContext) {
  const labels = new Map<string, string>()
  const previews = previewMessages(messages, preview)
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
