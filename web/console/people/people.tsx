import { useState } from 'preact/hooks'
import type { Person, PersonList } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Field } from '../../ui/field.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { type ApiError, api } from '../shell/api.ts'
import '../shared/forms.css'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { compactPhone, fieldErrorOf } from './address-errors.ts'

/** Finds a person who asked about their data, by phone number or email address. The URL of the page does not contain the address. */
export default function People() {
  const context = useOrgContext()
  const [address, setAddress] = useState('')
  const [found, setFound] = useState<Person[]>()
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const fieldError = fieldErrorOf(error, 'phone') ?? fieldErrorOf(error, 'email') ?? error?.message
  return (
    <>
      <h1>{t('People')}</h1>
      <p class="soft">
        {t(
          'Find a candidate, student or reviewer who asked about their data. You can export, correct, restrict and erase everything that this organisation stores about them. Every search is recorded in the audit log.',
        )}
      </p>
      <form class="card stack narrow" noValidate onSubmit={(event) => void find(event)}>
        <Field
          id="person-address"
          label={t('Phone number or email address')}
          hint={t('A phone number with country code, such as +919812345678, or an email address.')}
          error={fieldError}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              autoComplete="off"
              maxLength={254}
              value={address}
              onInput={(event) => setAddress(event.currentTarget.value)}
            />
          )}
        </Field>
        <SubmitButton class="primary" busy={busy} ready={address.trim() !== ''}>
          {t('Find')}
        </SubmitButton>
      </form>
      {found && (
        <Table
          caption={t('People found')}
          rows={found}
          keyOf={({ person_id }) => person_id}
          empty={
            <p class="soft">
              {context.mode === 'test'
                ? t('No person has this address in TEST mode. People whose data was erased are not found.')
                : t('No person has this address in LIVE mode. People whose data was erased are not found.')}
            </p>
          }
          columns={[
            {
              name: t('Person'),
              cell: ({ person_id }) => <Link to={context.pagePath(`/people/${person_id}`)}>{person_id}</Link>,
            },
            { name: t('Status'), cell: ({ status }) => <Badge state={status} /> },
            { name: t('Candidacies'), right: true, cell: ({ candidates }) => candidates.length },
            {
              name: t('Verifications'),
              right: true,
              cell: ({ students }) => students.flatMap(({ verification_ids }) => verification_ids).length,
            },
            { name: t('Reviews'), right: true, cell: ({ reviews }) => reviews.length },
            { name: t('Stored since'), cell: ({ created_at }) => <Time at={created_at} /> },
          ]}
        />
      )}
    </>
  )

  async function find(event: Event) {
    event.preventDefault()
    if (busy || address.trim() === '') return
    setBusy(true)
    const response = await api<PersonList>(context.apiPath(`/people?${queryFor(address.trim())}`))
    setBusy(false)
    setError(response.ok ? undefined : response.error)
    setFound(response.ok ? response.data.items : undefined)
  }
}

function queryFor(address: string): URLSearchParams {
  if (address.includes('@')) return new URLSearchParams({ email: address })
  return new URLSearchParams({ phone: compactPhone(address) })
}
