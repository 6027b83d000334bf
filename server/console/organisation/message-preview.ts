import type { Message } from '../../campaigns/contact/messages.ts'
import { linkLine, saidIn } from '../../channels/message-text.ts'
import { smsText } from '../../channels/twilio/sms.ts'
import { prompt } from '../../questions/prompts.ts'
import type { Language } from '../../questions/questions.ts'

/** What a message needs to be written out. */
export interface Writing {
  /** Of the conversation: the ones that a message can be in. */
  languages: Language[]
  /** In which whatever gives no hint is taken to be. */
  language: Language
  link: string
}

/**
 * The messages that reach people as plain text, word for word as they go out: options by number, and the personal link. Null where
 * the channel has buttons or a voice.
 */
export function writtenOut(messages: Message[], { languages, language, link }: Writing): (string | null)[] {
  let spoken = firstLanguage(messages, languages) ?? language
  return messages.map(({ direction, channel, content }) => {
    if (!Array.isArray(content)) {
      spoken = languages.find((each) => each === content.value) ?? spoken
      return null
    }
    if (direction !== 'out') return null
    const message = { prompts: content, language: spoken, link }
    if (channel === 'sms') return smsText(message)
    return channel === 'email' ? `${saidIn(message)}\n\n${linkLine(message)}` : null
  })
}

/** A message does not say which language it is in, but how it says yes does. */
function firstLanguage(messages: Message[], languages: Language[]): Language | undefined {
  for (const { content } of messages) {
    const asked = Array.isArray(content) ? content.find(({ kind }) => kind === 'yes_no') : undefined
    const yes = asked?.choices.find(({ value }) => value === 'yes')?.label
    if (yes !== undefined) return languages.find((each) => prompt('yes', each) === yes)
  }
  return undefined
}
