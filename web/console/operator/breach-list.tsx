import { useState } from 'preact/hooks'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { ProtectedDownload } from '../shared/protected-download.tsx'

const TABLES = [
  ['candidates', t('Candidates')],
  ['messages', t('Messages')],
  ['results', t('Results')],
  ['sessions', t('Verification sessions')],
  ['reviews', t('Reviews')],
  ['events', t('Events')],
] as const

/** Lists the people whose records a breach affects, as a CSV file with the contact data that is needed to inform them. */
export default function BreachList() {
  const [org, setOrg] = useState('')
  const [ids, setIds] = useState('')
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const [tables, setTables] = useState<string[]>(TABLES.map(([name]) => name))
  const query = new URLSearchParams({ tables: tables.join(',') })
  if (org.trim()) query.set('org', org.trim())
  if (ids.trim())
    query.set(
      'ids',
      ids
        .trim()
        .split(/[\s,]+/)
        .join(','),
    )
  if (from) query.set('from', new Date(from).toISOString())
  if (to) query.set('to', new Date(to).toISOString())
  return (
    <>
      <h1>{t('Breach list')}</h1>
      <p class="soft">
        {t(
          'Download the people whose records a breach affects, with the contact data that you need to inform them. The download is recorded in the audit log.',
        )}
      </p>
      <form class="card stack" onSubmit={(event) => event.preventDefault()}>
        <Field id="breach-org" label={t('Organisation ID')} hint={t('All organisations if empty.')}>
          {(attributes) => (
            <input {...attributes} type="text" value={org} onInput={(event) => setOrg(event.currentTarget.value)} />
          )}
        </Field>
        <fieldset>
          <legend>{t('Records')}</legend>
          {TABLES.map(([name, label]) => (
            <label class="check" key={name}>
              <input
                type="checkbox"
                checked={tables.includes(name)}
                onChange={(event) =>
                  setTables(event.currentTarget.checked ? [...tables, name] : tables.filter((each) => each !== name))
                }
              />
              {label}
            </label>
          ))}
        </fieldset>
        <Field
          id="breach-ids"
          label={t('IDs of affected records')}
          hint={t('Records, campaigns or jobs, separated by commas or lines. All records if empty.')}
        >
          {(attributes) => (
            <textarea {...attributes} value={ids} onInput={(event) => setIds(event.currentTarget.value)} />
          )}
        </Field>
        <Field id="breach-from" label={t('From')}>
          {(attributes) => (
            <input
              {...attributes}
              type="datetime-local"
              value={from}
              onInput={(event) => setFrom(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field id="breach-to" label={t('Before')}>
          {(attributes) => (
            <input
              {...attributes}
              type="datetime-local"
              value={to}
              onInput={(event) => setTo(event.currentTarget.value)}
            />
          )}
        </Field>
        <div>
          <ProtectedDownload href={`/console/api/operator/breach-list.csv?${query}`} primary>
            {t('Download the list as CSV')}
          </ProtectedDownload>
        </div>
      </form>
    </>
  )
}
