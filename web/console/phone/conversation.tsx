import { Fragment } from 'preact'
import type { ConversationMessage, ConversationPrompt } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Time } from '../../ui/time.tsx'
import './conversation.css'
import { channelName } from '../shared/labels.ts'

const STATE_NAMES: Record<string, string> = {
  queued: t('queued'),
  sending: t('sending'),
  sent: t('sent'),
  delivered: t('delivered'),
  read: t('read'),
  received: t('received'),
  failed: t('failed'),
  dropped: t('dropped'),
  unknown: t('unknown'),
}

interface Props {
  messages: ConversationMessage[]
  /** True shows the channel, state and time of every message. Otherwise, the conversation looks as the candidate sees it. */
  detailed?: boolean
  /** The step of the current question, whose choices are shown as buttons below the conversation and not in it. */
  openStep?: number | undefined
}

/** The messages of a conversation, with the candidate's messages on the right as on their own phone. */
export function Conversation({ messages, detailed = false, openStep }: Props) {
  return (
    <>
      {messages.map((message, index) => {
        const previous = messages[index - 1]
        const channelChanged = previous?.channel !== message.channel
        return (
          <Fragment key={message.message_id}>
            {channelChanged && (
              <p class="channel-mark">
                <span class="tag">{channelName(message.channel)}</span>
              </p>
            )}
            <Bubble message={message} detailed={detailed} openStep={openStep} />
          </Fragment>
        )
      })}
    </>
  )
}

function Bubble({
  message,
  detailed,
  openStep,
}: {
  message: ConversationMessage
  detailed: boolean
  openStep: number | undefined
}) {
  const { direction, channel, state, parts, text, error, at, contact_step } = message
  const undelivered = state === 'failed' || state === 'dropped'
  return (
    <div class={`bubble ${direction} ${channel} ${undelivered ? 'undelivered' : ''}`}>
      <span class="hidden-text">{direction === 'in' ? t('Candidate:') : t('Received:')}</span>
      {contact_step !== null && contact_step > 0 && (
        <p class="bubble-note">{t('Follow-up {number}', { number: contact_step })}</p>
      )}
      {channel === 'voice' && direction === 'out' && <p class="bubble-note">{t('Voice call')}</p>}
      {direction === 'in' ? (
        <p>{text}</p>
      ) : text ? (
        <PlainMessage text={text} />
      ) : (
        parts.map((part, index) => <Prompt key={index} prompt={part} isOpen={part.step === openStep} />)
      )}
      {(detailed || undelivered) && (
        <p class="bubble-foot">
          {detailed && (
            <>
              {channelName(channel)} · <Time at={at} /> ·{' '}
            </>
          )}
          {STATE_NAMES[state] ?? state}
          {error && `: ${error}`}
        </p>
      )}
    </div>
  )
}

/** A plain-text message as it is received, with clickable links and no buttons. */
function PlainMessage({ text }: { text: string }) {
  return (
    <p class="plain-message">
      {text.split(/(https?:\/\/\S+)/).map((piece, index) =>
        index % 2 === 0 || piece.endsWith('…') ? (
          piece
        ) : (
          <a key={index} href={piece} target="_blank" rel="noreferrer">
            {piece}
          </a>
        ),
      )}
    </p>
  )
}

function Prompt({ prompt, isOpen }: { prompt: ConversationPrompt; isOpen: boolean }) {
  return (
    <>
      {prompt.text.split('\n').map((line, index) => (
        <p key={index}>{line}</p>
      ))}
      {prompt.choices.length > 0 && !isOpen && (
        <ul class="choice-list" aria-label={t('Choices')}>
          {prompt.choices.map(({ value, label }) => (
            <li key={value}>{label}</li>
          ))}
        </ul>
      )}
    </>
  )
}
