import type { CandidateMessage } from '../../campaigns/contact/messages.ts'
import { emailText } from '../../channels/email/message.ts'
import { smsText } from '../../channels/twilio/sms.ts'
import type { Language } from '../../platform/text/languages.ts'
import { prompt } from '../../questions/prompts.ts'

export interface PreviewContext {
  /** The languages of the conversation. */
  languages: Language[]
  /** Language of messages whose language cannot be detected. */
  language: Language
  link: string
  unsubscribeUrl: string
}

/**
 * Returns the exact text of messages that are sent as plain text (SMS and email), with numbered options and the personal link.
 * Null for replies and for channels with buttons or voice.
 */
export function previewMessages(
  messages: CandidateMessage[],
  { languages, language, link, unsubscribeUrl }: PreviewContext,
): (string | null)[] {
  let currentLanguage = detectLanguage(messages, languages) ?? language
  return messages.map(({ direction, channel, content, contact_step }) => {
    if (!Array.isArray(content)) {
      currentLanguage = languages.find((each) => each === content.value) ?? currentLanguage
      return null
    }
    if (direction !== 'out') return null
    const followUp = contact_step === null ? {} : { followUpNumber: contact_step }
    const message = { prompts: content, language: currentLanguage, link, unsubscribeUrl, ...followUp }
    if (channel === 'sms') return smsText(message)
    return channel === 'email' ? emailText(message) : null
  })
}

/** Detects the language from the label of a yes option: messages are stored without their language. */
function detectLanguage(messages: CandidateMessage[], languages: Language[]): Language | undefined {
  for (const { content } of messages) {
    const yesNoPrompt = Array.isArray(content) ? content.find(({ kind }) => kind === 'yes_no') : undefined
    const yesLabel = yesNoPrompt?.choices.find(({ value }) => value === 'yes')?.label
    if (yesLabel !== undefined) return languages.find((each) => prompt('yes', each) === yesLabel)
  }
  return undefined
}
