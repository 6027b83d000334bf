import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'

interface Reason {
  requested_by: string
  basis: string
}

interface Props {
  reason: Reason
  onChange: (reason: Reason) => void
  required?: boolean
}

/** The requester and the legal basis. Both are stored in the audit log, which is not erased with the person. */
export function ReasonFields({ reason, onChange, required = false }: Props) {
  return (
    <>
      <Field
        id="reason-requester"
        label={required ? t('Who asked') : t('Who asked (optional)')}
        hint={t('For example: the person, ticket 4711. Do not enter names or addresses: they would not be erased.')}
      >
        {(attributes) => (
          <input
            {...attributes}
            type="text"
            required={required}
            autoComplete="off"
            maxLength={200}
            value={reason.requested_by}
            onInput={(event) => onChange({ ...reason, requested_by: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field
        id="reason-basis"
        label={required ? t('Basis') : t('Basis (optional)')}
        hint={t('For example: GDPR Article 17, or DPDP Act section 12.')}
      >
        {(attributes) => (
          <input
            {...attributes}
            type="text"
            required={required}
            autoComplete="off"
            maxLength={500}
            value={reason.basis}
            onInput={(event) => onChange({ ...reason, basis: event.currentTarget.value })}
          />
        )}
      </Field>
    </>
  )
}
