import type { OwnerScope } from '../../access/caller.ts'
import { problem } from '../../api/problem.ts'
import { type Candidacy, findCandidacy } from '../../campaigns/candidacy.ts'
import { linkOf } from '../../campaigns/candidate-page/links.ts'
import { listMessages, type Message } from '../../campaigns/contact/messages.ts'
import { partOf } from '../../channels/simulator/test-numbers.ts'
import type { Context } from '../../context.ts'
import { asking } from '../../conversation/conversation.ts'
import { type Rendered, render } from '../../conversation/render.ts'
import type { Queries } from '../../platform/database/database.ts'
import { isAtLeast, type Role } from '../auth/roles.ts'
import { type Writing, writtenOut } from './message-preview.ts'
import { type Handset, nextContactOf } from './simulator-phones.ts'

export function handsetRecord(row: Handset) {
  const { conversation, direction, last_channel, content, last_at, updated_at, ...rest } = row
  return {
    ...rest,
    part: partOf(row.phone) ?? null,
    language: (JSON.parse(conversation) as { language: string }).language,
    last:
      direction === null
        ? null
        : { direction, channel: last_channel!, text: lastWords(content!), at: last_at!.toISOString() },
    updated_at: updated_at.toISOString(),
  }
}

function lastWords(content: string): string {
  const said = JSON.parse(content) as Message['content']
  return Array.isArray(said) ? (said.at(-1)?.text ?? '') : (said.text ?? said.value ?? '')
}

export async function getCandidate(queries: Queries, { orgId, mode }: OwnerScope, id: string): Promise<Candidacy> {
  const found = await findCandidacy(queries, id)
  if (found?.org_id !== orgId || found.mode !== mode) throw problem('NOT_FOUND', `There is no candidate ${id}.`)
  return found
}

/** A candidate with everything that was said, as the console shows it to somebody of that role. */
export async function candidateRecord(
  queries: Queries,
  context: Pick<Context, 'vault' | 'config'>,
  candidate: Candidacy,
  role: Role,
) {
  const { state, flow, status, mode } = candidate
  const open = status === 'pending' && candidate.hold !== 'archived'
  const next = await nextContactOf(queries, candidate.candidate_id)
  // The page lets in whoever opens it: a real candidate's is for that candidate alone, one in TEST for those who may answer.
  const link = mode === 'test' && isAtLeast(role, 'recruiter') ? linkOf(context, candidate) : null
  const writing = { languages: flow.languages, language: state.language, link: link ?? hiddenLink(context) }
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
    part: partOf(candidate.phone) ?? null,
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
    asking: open ? asking(state, flow).map((said) => render(said, state.language, flow, candidate)) : [],
    next_contact_at: next?.toISOString() ?? null,
    messages: messageRecords(await listMessages(queries, candidate.candidate_id), writing),
  }
}

/** Where the link stands in a message, without what lets in. */
function hiddenLink({ config }: Pick<Context, 'config'>): string {
  return `${config.publicUrl ?? ''}/…`
}

/** A choice that was taken is shown by its label; what goes out as plain text, by that text. */
function messageRecords(messages: Message[], writing: Writing) {
  const labels = new Map<string, string>()
  const written = writtenOut(messages, writing)
  return messages.map(({ content, created_at, conversation_step, candidate_id: _, ...message }, index) => {
    const parts: Rendered[] = Array.isArray(content) ? content : []
    for (const { choices } of parts) for (const { value, label } of choices) labels.set(value, label)
    const said = Array.isArray(content) ? undefined : (content.text ?? labels.get(content.value ?? '') ?? content.value)
    const text = said ?? written[index] ?? ''
    return { ...message, step: conversation_step, parts, text, at: created_at.toISOString() }
  })
}
