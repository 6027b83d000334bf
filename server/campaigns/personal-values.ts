import type { ConversationFlow } from '../conversation/flow.ts'
import type { ConversationState } from '../conversation/state.ts'
import type { ContactConsent } from '../notices/contact-basis.ts'
import { blindIndexOf } from '../people/identity/blind-index.ts'
import { ERASED, openPersonal, type PersonKey, sealPersonal } from '../people/identity/person-key.ts'
import type { Queries } from '../platform/database/database.ts'

/** Returns the hashes by which candidates with the same phone number or mailbox are found. */
export function addressIndexes(
  queries: Queries,
  {
    org_id: orgId,
    mode,
    phone,
    email,
  }: { org_id: string; mode: 'test' | 'live'; phone: string | null; email: string | null },
  context?: string,
): { phone: Buffer | null; email: Buffer | null } {
  const blindIndex = blindIndexOf(queries)
  return {
    phone: phone === null ? null : blindIndex.phone({ orgId, mode }, phone, context),
    email: email === null ? null : blindIndex.email({ orgId, mode }, email, context),
  }
}

/** The personal values of a candidate, sealed in one column. */
export interface CandidateValues {
  name: string
  phone: string | null
  email: string | null
  metadata: Record<string, string>
  /** The basis of the contact; absent in TEST mode and in rows of earlier versions. */
  consent?: ContactConsent | undefined
}

const ERASED_VALUES: CandidateValues = { name: ERASED, phone: null, email: null, metadata: {}, consent: undefined }

export function sealCandidate(key: Buffer, candidateId: string, values: CandidateValues): Buffer {
  return sealPersonal(key, values, candidatePurpose(candidateId))
}

/** Returns the values of a candidate, or the marker if the person was erased. */
export function openCandidate(key: PersonKey, candidateId: string, sealed: Uint8Array | null): CandidateValues {
  return openPersonal<CandidateValues>(key, sealed, candidatePurpose(candidateId)) ?? ERASED_VALUES
}

function candidatePurpose(candidateId: string) {
  return `candidate ${candidateId}`
}

/** Returns the candidacy as it is shown after the erasure of the person. */
export function redactCandidacy<
  T extends CandidateValues & { state: ConversationState; flow: Pick<ConversationFlow, 'enrichment'> },
>(candidacy: T): T {
  return { ...candidacy, ...ERASED_VALUES, state: redactState(candidacy.state, candidacy.flow) }
}

type Answers = ConversationState['enrichment']

/** Returns the conversation as it is stored, without the answers in the candidate's own words, and all answers sealed. */
export function splitConversation(
  key: PersonKey,
  candidateId: string,
  state: ConversationState,
  flow: Pick<ConversationFlow, 'enrichment'>,
): { conversation: string; personal: Buffer | null } {
  const redactedState = redactState(state, flow)
  const personal =
    redactedState === state || key === null ? null : sealPersonal(key, state.enrichment, answersPurpose(candidateId))
  return { conversation: JSON.stringify(redactedState), personal }
}

/** Replaces answers in the candidate's own words with the marker. Answers of yes and no stay, because they decide the result. */
function redactState(state: ConversationState, flow: Pick<ConversationFlow, 'enrichment'>): ConversationState {
  const isPersonal = (answer: string | null, question: number) =>
    answer !== null && flow.enrichment[question]?.type !== 'yes_no'
  if (!state.enrichment.some(isPersonal)) return state
  return {
    ...state,
    enrichment: state.enrichment.map((answer, question) => (isPersonal(answer, question) ? ERASED : answer)),
  }
}

/** Returns the state with the candidate's own words, or with the marker if the person was erased. */
export function joinConversation(
  key: PersonKey,
  candidateId: string,
  state: ConversationState,
  sealed: Uint8Array | null,
): ConversationState {
  const enrichment = openPersonal<Answers>(key, sealed, answersPurpose(candidateId))
  return enrichment ? { ...state, enrichment } : state
}

function answersPurpose(candidateId: string) {
  return `answers of ${candidateId}`
}

export function sealMessage(key: PersonKey, messageId: string, content: unknown): Buffer | null {
  return key === null ? null : sealPersonal(key, content, messagePurpose(messageId))
}

/** Returns the content of a message, or the marker if the person was erased. */
export function openMessage<T>(
  key: PersonKey,
  { message_id, direction, personal }: { message_id: string; direction: 'in' | 'out'; personal: Uint8Array | null },
): T {
  const content = openPersonal<T>(key, personal, messagePurpose(message_id))
  return content ?? ((direction === 'out' ? [] : { text: ERASED }) as T)
}

function messagePurpose(messageId: string) {
  return `message ${messageId}`
}
