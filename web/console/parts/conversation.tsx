import { Fragment } from 'preact'
import { Time } from '../../ui/time.tsx'
import './conversation.css'
import type { Message, Part } from './records.ts'
import { channelName } from './words.ts'

const MARKS: Record<string, string> = { whatsapp: '💬', voice: '📞', sms: '✉️', email: '📧', page: '🌐' }

interface Props {
  messages: Message[]
  /** With channel, state and time of every message, for who looks into a conversation; without, as the candidate sees it. */
  detailed?: boolean
}

/** A conversation, message by message. What the candidate said stands on the right, as on the candidate's own phone. */
export function Conversation({ messages, detailed = false }: Props) {
  return (
    <>
      {messages.map((message, index) => {
        const before = messages[index - 1]
        const moved = before?.channel !== message.channel
        return (
          <Fragment key={message.message_id}>
            {moved && (
              <p class="channel-mark">
                <span aria-hidden="true">{MARKS[message.channel]}</span> {channelName(message.channel)}
              </p>
            )}
            <Bubble message={message} detailed={detailed} />
          </Fragment>
        )
      })}
    </>
  )
}

function Bubble({ message, detailed }: { message: Message; detailed: boolean }) {
  const { direction, channel, state, parts, text, error, at, contact_step } = message
  const lost = state === 'failed' || state === 'dropped'
  return (
    <div class={`bubble ${direction} ${channel} ${lost ? 'lost' : ''}`}>
      <span class="hidden-text">{direction === 'in' ? 'Candidate:' : 'Arrived:'}</span>
      {contact_step !== null && contact_step > 0 && <p class="bubble-note">Follow-up {contact_step}</p>}
      {channel === 'voice' && direction === 'out' && <p class="bubble-note">The call says</p>}
      {direction === 'in' ? <p>{text}</p> : parts.map((part, index) => <Words key={index} part={part} />)}
      {(detailed || lost) && (
        <p class="bubble-foot">
          {detailed && (
            <>
              {channelName(channel)} · <Time at={at} /> ·{' '}
            </>
          )}
          {state}
          {error && `: ${error}`}
        </p>
      )}
    </div>
  )
}

function Words({ part }: { part: Part }) {
  return (
    <>
      {part.text.split('\n').map((line, index) => (
        <p key={index}>{line}</p>
      ))}
      {part.choices.length > 0 && (
        <ul class="offered" aria-label="Choices">
          {part.choices.map(({ value, label }) => (
            <li key={value}>{label}</li>
          ))}
        </ul>
      )}
    </>
  )
}
