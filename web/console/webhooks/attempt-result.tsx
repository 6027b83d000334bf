import type { DeliveryAttempt } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'

interface Props {
  attempt: Pick<DeliveryAttempt, 'status_code' | 'error' | 'latency_ms'> | undefined
}

/** The status or the error of an attempt, and its duration. */
export function AttemptResult({ attempt }: Props) {
  if (!attempt) return <span class="soft">–</span>
  const { status_code, error, latency_ms } = attempt
  const accepted = status_code !== null && status_code >= 200 && status_code < 300
  return (
    <span class={accepted ? 'good-text' : 'bad-text'}>
      {status_code ?? error ?? t('no response')} · {t('{duration} ms', { duration: Math.round(latency_ms) })}
    </span>
  )
}
