import type { OutgoingMessage } from './channel.ts'
import { hasCode, linkLines, plainText, promptText, truncate } from './message-text.ts'
import { rulesFor } from './rules.ts'

/**
 * Returns the text of an SMS: a question, or an invitation with the personal link in countries where SMS cannot be answered. The text of a
 * message to a reviewer already contains the link, and a confirmation code is sent without it.
 */
export function smsTextFor(message: OutgoingMessage, maxLength: number): string {
  if (message.review) return promptText(message)
  return rulesFor(message.to).channels.sms.use === 'link_only' && !hasCode(message)
    ? invitationText(message, maxLength)
    : plainText(message, maxLength)
}

/**
 * Formats a message to which recipients cannot reply: the request for consent or the other notices, and the link. Questions and their
 * options are left out, because candidates answer them on the page.
 */
function invitationText(message: OutgoingMessage, maxLength: number): string {
  const { prompts, asksConsent } = message
  const shownPrompts = asksConsent && message.followUpNumber === 0 ? prompts : prompts.filter(isNotice)
  const ending = linkLines(message)
  const text = promptText({ prompts: shownPrompts })
  return text ? `${truncate(text, maxLength - ending.length - 2)}\n\n${ending}` : ending
}

function isNotice({ kind }: OutgoingMessage['prompts'][number]): boolean {
  return kind === 'notice'
}
