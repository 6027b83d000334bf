import { useEffect, useState } from 'preact/hooks'
import type { CandidateInput, CostEstimate } from '../../api-types/partner.ts'
import { richText } from '../../translations/rich-text.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { channelName } from '../shared/labels.ts'
import { type ApiError, api } from '../shell/api.ts'
import { useOrgContext } from '../shell/session.ts'

/** Length of the + and the longest calling code. */
const PREFIX_LENGTH = 4

interface Group {
  phone_prefix?: string
  has_email: boolean
  count: number
}

/** Groups candidates by calling code and kinds of addresses, so that no address is sent. */
function groupRecipients(candidates: Pick<CandidateInput, 'phone' | 'email'>[]): Group[] {
  const groups = new Map<string, Group>()
  for (const { phone, email } of candidates) {
    const prefix = phone?.slice(0, PREFIX_LENGTH)
    const key = `${prefix} ${email !== undefined}`
    const group = groups.get(key) ?? {
      ...(prefix ? { phone_prefix: prefix } : {}),
      has_email: email !== undefined,
      count: 0,
    }
    group.count += 1
    groups.set(key, group)
  }
  return [...groups.values()]
}

/** The estimated cost of the messages to these candidates. */
export function CostEstimateText({ mandateId, candidates }: { mandateId: string; candidates: CandidateInput[] }) {
  const context = useOrgContext()
  const [estimate, setEstimate] = useState<CostEstimate>()
  const [error, setError] = useState<ApiError>()
  useEffect(() => {
    const body = { mandate_id: mandateId, recipients: groupRecipients(candidates) }
    void api<CostEstimate>(context.apiPath('/spending/estimate'), { body }).then((response) => {
      if (response.ok) setEstimate(response.data)
      else setError(response.error)
    })
  }, [mandateId])
  if (error)
    return (
      <Notice kind="wait">
        {t('The cost of the messages cannot be estimated: {message}', { message: error.message })}
      </Notice>
    )
  if (!estimate) return <p class="soft">{t('Estimating the cost of the messages…')}</p>
  const { currency, first_messages, maximum, unreachable, lines } = estimate
  const amount = (value: number) => value.toLocaleString(displayLocale(), { style: 'currency', currency })
  return (
    <div class="stack-tight">
      <p>
        {richText(
          'Estimated cost of the messages: {first} for the first messages, at most {maximum} with all follow-ups.',
          { first: <strong>{amount(first_messages)}</strong>, maximum: <strong>{amount(maximum)}</strong> },
        )}
      </p>
      <ul class="soft small">
        {lines.map(({ kind, channel, calling_code, messages, price, amount: lineAmount }) => (
          <li key={`${kind} ${channel} ${calling_code} ${price}`}>
            {t(
              kind === 'first_message'
                ? calling_code
                  ? '{count} first messages by {channel} to +{code}: {amount}'
                  : '{count} first messages by {channel}: {amount}'
                : calling_code
                  ? '{count} follow-ups by {channel} to +{code}: {amount}'
                  : '{count} follow-ups by {channel}: {amount}',
              {
                count: messages.toLocaleString(displayLocale()),
                channel: channelName(channel),
                code: calling_code,
                amount: price === null ? t('no price') : amount(lineAmount),
              },
            )}
          </li>
        ))}
      </ul>
      {unreachable > 0 && (
        <Notice kind="wait">
          {t(
            unreachable === 1
              ? '1 candidate has no address for any channel that is set up.'
              : '{count} candidates have no address for any channel that is set up.',
            { count: unreachable.toLocaleString(displayLocale()) },
          )}
        </Notice>
      )}
    </div>
  )
}
