import { useState } from 'preact/hooks'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { api } from '../shell/api.ts'

interface Props {
  /** Name of the organisation; undefined for all organisations. */
  name?: string
  path: string
  isOn: boolean
  /** Whether all work is held, and not only the partner API switched off. */
  isPaused: boolean
  onClose: () => void
  onDone: () => void
}

/** Switches the service on or off, for one organisation or for all. */
export function ServiceDialog({ name, path, isOn, isPaused, onClose, onDone }: Props) {
  const [apiOnly, setApiOnly] = useState(false)
  const [reason, setReason] = useState('')
  return (
    <Confirm
      title={
        name === undefined
          ? t(isOn ? 'Switch the service off for everyone?' : 'Switch the service on for everyone?')
          : t(isOn ? 'Switch {name} off?' : 'Switch {name} on?', { name })
      }
      action={
        name === undefined
          ? t(isOn ? 'Switch off for everyone' : 'Switch on for everyone')
          : t(isOn ? 'Switch off' : 'Switch on')
      }
      onClose={onClose}
      act={() =>
        api(path, {
          method: 'PUT',
          body: {
            on: !isOn,
            ...(isOn && apiOnly ? { api_only: true } : {}),
            ...(reason.trim() ? { reason: reason.trim() } : {}),
          },
        })
      }
      onDone={onDone}
    >
      {isOn ? (
        <fieldset class="stack-tight">
          <legend>{t('What to stop')}</legend>
          <label class="check">
            <input type="radio" name="scope" checked={!apiOnly} onChange={() => setApiOnly(false)} />
            <span>
              {t(
                'Everything: API calls return 503, candidates, students and reviewers see that the service is paused, and contacts, emails and webhook deliveries are held. Nothing is lost.',
              )}
            </span>
          </label>
          <label class="check">
            <input type="radio" name="scope" checked={apiOnly} onChange={() => setApiOnly(true)} />
            <span>{t('Only the partner API: its calls return 503. Everything else continues.')}</span>
          </label>
        </fieldset>
      ) : (
        <p>
          {isPaused
            ? t(
                'Held contacts, emails and webhook deliveries are processed in their original order, and deadlines are extended by the length of the pause.',
              )
            : t('The partner API accepts calls again.')}
        </p>
      )}
      <Field
        id="service-reason"
        label={t('Reason (optional)')}
        hint={t('Shown to operators, and stored in the audit log.')}
      >
        {(attributes) => (
          <input
            {...attributes}
            type="text"
            maxLength={500}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        )}
      </Field>
    </Confirm>
  )
}
