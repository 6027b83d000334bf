export const sentMessageKinds = ['first_message', 'follow_up', 'requested', 'response', 'code'] as const
export type SentMessageKind = (typeof sentMessageKinds)[number]

/** Returns the kind of an outgoing message. */
export function kindOfMessage({
  contact_step,
  requested,
  is_code,
}: {
  contact_step: number | null
  requested: boolean
  is_code: boolean
}): SentMessageKind {
  if (is_code) return 'code'
  if (contact_step === null) return 'response'
  if (requested) return 'requested'
  return contact_step === 0 ? 'first_message' : 'follow_up'
}
