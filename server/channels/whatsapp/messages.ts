import type { RenderedPrompt } from '../../conversation/render.ts'
import { prompt } from '../../questions/prompts.ts'
import type { OutgoingMessage } from '../channel.ts'
import {
  buttonId,
  isOptionNumber,
  linkLines,
  numberedOptions,
  plainText,
  promptText,
  questionIn,
  truncate,
} from '../message-text.ts'
import type { TemplatedWhatsApp } from '../templates/render.ts'

/** Limits of the WhatsApp Cloud API; lengths in UTF-16 code units. */
const MAX_TEXT_LENGTH = 4096
const MAX_INTERACTIVE_BODY_LENGTH = 1024
const MAX_BUTTONS = 3
const MAX_BUTTON_LABEL_LENGTH = 20
const MAX_LIST_ROWS = 10
const MAX_ROW_TITLE_LENGTH = 24
const MAX_ROW_DESCRIPTION_LENGTH = 72

/** Builds a message within the 24-hour window: text, with buttons or a list if the options fit. */
export function sessionMessage(message: OutgoingMessage): object {
  const question = questionIn(message.prompts)
  const interactive = question && question.choices.length > 0 ? interactiveContent(message, question) : undefined
  const body = interactive
    ? { type: 'interactive', interactive }
    : { type: 'text', text: { preview_url: false, body: plainText(message, MAX_TEXT_LENGTH) } }
  return { ...messageEnvelope(message), ...body }
}

function interactiveContent(message: OutgoingMessage, question: RenderedPrompt): object | undefined {
  const { choices, step } = question
  const body = `${promptText(message)}\n\n${linkLines(message)}`
  if (choices.length <= MAX_BUTTONS && choices.every(({ label }) => label.length <= MAX_BUTTON_LABEL_LENGTH)) {
    if (body.length > MAX_INTERACTIVE_BODY_LENGTH) return undefined
    const buttons = choices.map(({ value, label }) => {
      return { type: 'reply', reply: { id: buttonId(step, value), title: label } }
    })
    return { type: 'button', body: { text: body }, action: { buttons } }
  }
  if (choices.length > MAX_LIST_ROWS) return undefined
  const labelsFit = choices.every(
    ({ label }) => label.length <= MAX_ROW_TITLE_LENGTH && !isOptionNumber(label, question),
  )
  // Options that are too long for row titles, or that are numbers themselves, are listed in the body and chosen by number.
  const text = labelsFit ? body : `${promptText(message)}\n\n${numberedOptions(question)}\n\n${linkLines(message)}`
  if (text.length > MAX_INTERACTIVE_BODY_LENGTH) return undefined
  const rows = choices.map(({ value, label }, index) => {
    const id = buttonId(step, value)
    return labelsFit
      ? { id, title: label }
      : { id, title: String(index + 1), description: truncate(label, MAX_ROW_DESCRIPTION_LENGTH) }
  })
  const listButtonLabel = truncate(prompt('page_answer', message.language), MAX_BUTTON_LABEL_LENGTH)
  return { type: 'list', body: { text }, action: { button: listButtonLabel, sections: [{ rows }] } }
}

/**
 * Builds a template message, required outside the 24 hours after the candidate's last message. The two buttons of the template, yes and
 * no, answer the question for consent. At a later question, yes repeats that question and no means "not now".
 */
export function templateMessage(message: OutgoingMessage, template: TemplatedWhatsApp): object {
  const parameters = template.values.map((text) => ({ type: 'text', text }))
  const step = questionIn(message.prompts)?.step
  const buttons =
    !template.hasButtons || step === undefined
      ? []
      : (message.asksConsent ? ['yes', 'no'] : ['repeat', 'later']).map((value, index) => ({
          type: 'button',
          sub_type: 'quick_reply',
          index: String(index),
          parameters: [{ type: 'payload', payload: buttonId(step, value) }],
        }))
  return {
    ...messageEnvelope(message),
    type: 'template',
    template: {
      name: template.name,
      language: { code: template.languageCode },
      components: [{ type: 'body', parameters }, ...buttons],
    },
  }
}

/** Status reports include `biz_opaque_callback_data`, even if they arrive before the response to the send. */
function messageEnvelope({ to, message_id }: OutgoingMessage) {
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: to.replace(/^\+/, ''),
    biz_opaque_callback_data: message_id,
  }
}
