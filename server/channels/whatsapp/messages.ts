import type { Rendered } from '../../conversation/render.ts'
import { oneLine } from '../../platform/text/strip-invisible.ts'
import { prompt } from '../../questions/prompts.ts'
import type { Outgoing } from '../channel.ts'
import { buttonId, cut, linkLine, numbered, plainText, questionIn, saidIn } from '../message-text.ts'
import type { WhatsAppTemplate } from '../settings.ts'

/** What the Cloud API allows. */
const MOST_TEXT = 4096
const MOST_BODY = 1024
const MOST_BUTTONS = 3
const BUTTON_LABEL = 20
const MOST_ROWS = 10
const ROW_TITLE = 24
const ROW_DESCRIPTION = 72

/** An answer to somebody who has written: text, with buttons or a list where the options fit. */
export function sessionMessage(message: Outgoing): object {
  const question = questionIn(message.prompts)
  const interactive = question && question.choices.length > 0 ? asButtons(message, question) : undefined
  const body = interactive
    ? { type: 'interactive', interactive }
    : { type: 'text', text: { preview_url: false, body: plainText(message, MOST_TEXT) } }
  return { ...envelope(message), ...body }
}

function asButtons(message: Outgoing, question: Rendered): object | undefined {
  const { choices, step } = question
  const body = `${saidIn(message)}\n\n${linkLine(message)}`
  if (choices.length <= MOST_BUTTONS && choices.every(({ label }) => label.length <= BUTTON_LABEL)) {
    if (body.length > MOST_BODY) return undefined
    const buttons = choices.map(({ value, label }) => {
      return { type: 'reply', reply: { id: buttonId(step, value), title: label } }
    })
    return { type: 'button', body: { text: body }, action: { buttons } }
  }
  if (choices.length > MOST_ROWS) return undefined
  const short = choices.every(({ label }) => label.length <= ROW_TITLE)
  // Options too long for a row's title are written out above, where they can be read whole, and chosen by their number.
  const text = short ? body : `${saidIn(message)}\n\n${numbered(question)}\n\n${linkLine(message)}`
  if (text.length > MOST_BODY) return undefined
  const rows = choices.map(({ value, label }, index) => {
    const id = buttonId(step, value)
    return short ? { id, title: label } : { id, title: String(index + 1), description: cut(label, ROW_DESCRIPTION) }
  })
  const button = cut(prompt('page_answer', message.language), BUTTON_LABEL)
  return { type: 'list', body: { text }, action: { button, sections: [{ rows }] } }
}

/**
 * The first message, and any other outside the day after the person last wrote, must be a template that the provider approved.
 * Its body has four variables: name, company, title and link.
 */
export function templateMessage(message: Outgoing, template: WhatsAppTemplate): object {
  const { name, company, title, link } = message
  const parameters = [name, company, title, link].map((text) => ({
    type: 'text',
    text: oneLine(text).slice(0, 300).toWellFormed() || '-',
  }))
  const step = questionIn(message.prompts)?.step
  const buttons =
    template.buttons === false || step === undefined
      ? []
      : ['yes', 'no'].map((value, index) => ({
          type: 'button',
          sub_type: 'quick_reply',
          index: String(index),
          parameters: [{ type: 'payload', payload: buttonId(step, value) }],
        }))
  return {
    ...envelope(message),
    type: 'template',
    template: {
      name: template.name,
      language: { code: templateLanguage(template, message.language) },
      components: [{ type: 'body', parameters }, ...buttons],
    },
  }
}

function templateLanguage({ languages }: WhatsAppTemplate, language: string): string {
  return languages.find((code) => code === language || code.startsWith(`${language}_`)) ?? languages[0]!
}

/** Status reports bring our own name for the message back, also when they come before the provider's answer. */
function envelope({ to, message_id }: Outgoing) {
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: to.replace(/^\+/, ''),
    biz_opaque_callback_data: message_id,
  }
}
