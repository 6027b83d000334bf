import { useState } from 'preact/hooks'
import type { ItemImport } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { FileImportForm, uploadParameters } from '../shared/file-import-form.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useOrgContext } from '../shell/session.ts'

const MAX_SHOWN_ROWS = 100

/** Form to check a file of questions and to import it. Shows every error with its position. */
export function ImportForm({ onImported }: { onImported: () => void }) {
  const context = useOrgContext()
  const [skillId, setSkillId] = useState('')
  const [outcome, setOutcome] = useState<ItemImport>()
  const [error, setError] = useState<ApiError>()
  return (
    <section class="stack" aria-label={t('Import')}>
      <FileImportForm<ItemImport>
        name="Import questions"
        fileLabel="File: CSV, or QTI 3.0 as XML or ZIP (up to 8 MB)"
        accept=".csv,.xml,.zip"
        upload={(file, dryRun) => {
          const query = new URLSearchParams({
            ...uploadParameters(file, dryRun),
            ...(skillId ? { skill_id: skillId } : {}),
          })
          return api(context.apiPath(`/items/upload?${query}`), { file })
        }}
        onSelect={() => {
          setError(undefined)
          setOutcome(undefined)
        }}
        onResponse={(response, dryRun) => {
          setError(response.ok ? undefined : response.error)
          setOutcome(response.ok ? response.data : undefined)
          if (response.ok && !dryRun) onImported()
        }}
      >
        <label>
          Skill ID of questions that name no skill (optional)
          <input
            type="text"
            placeholder={t('sk_1001')}
            value={skillId}
            onInput={(event) => setSkillId(event.currentTarget.value.trim())}
          />
        </label>
      </FileImportForm>
      {error && <ImportErrors error={error} />}
      {outcome && <ImportOutcome outcome={outcome} />}
    </section>
  )
}

function ImportErrors({ error: { details, message } }: { error: ApiError }) {
  if (details.length === 0) return <Notice kind="bad">{message}</Notice>
  return (
    <>
      <Notice kind="bad">
        Nothing was imported.{' '}
        {details.length === 1 ? t('The file has 1 error.') : message.replace('; see `details`', '')} Correct the file
        and choose it again.
      </Notice>
      <Findings name="Errors" findings={details} />
    </>
  )
}

function ImportOutcome({ outcome }: { outcome: ItemImport }) {
  const { dry_run, added, replaced, updated, unchanged, pilot, warnings } = outcome
  const parts = [
    t('{added} added', { added: added.toLocaleString() }),
    t('{replaced} replaced', { replaced: replaced.toLocaleString() }),
    t('{updated} updated', { updated: updated.toLocaleString() }),
    t('{unchanged} unchanged', { unchanged: unchanged.toLocaleString() }),
  ]
  return (
    <>
      <Notice kind="good">
        {dry_run ? t('The file has no errors. An import would give: ') : t('Imported: ')}
        {parts.join(', ')}.{' '}
        {pilot > 0 &&
          `${pilot.toLocaleString()} of them ${dry_run ? t('would start') : 'start'} as pilot questions, which are asked without being scored.`}
      </Notice>
      {warnings.length > 0 && (
        <>
          <p>
            {warnings.length.toLocaleString()} {warnings.length === 1 ? t('question looks') : t('findings look')} weak.
            You can improve {warnings.length === 1 ? 'it' : 'them'} and import the file again.
          </p>
          <Findings name="Warnings" findings={warnings} />
        </>
      )}
    </>
  )
}

function Findings({ name, findings }: { name: string; findings: { path: string; message: string }[] }) {
  const omitted = findings.length - MAX_SHOWN_ROWS
  return (
    <>
      <Table
        caption={name}
        rows={findings.slice(0, MAX_SHOWN_ROWS)}
        keyOf={({ path, message }) => `${path} ${message}`}
        empty={null}
        columns={[
          { name: t('Position'), cell: ({ path }) => path },
          { name: t('What to do'), cell: ({ message }) => message },
        ]}
      />
      {omitted > 0 && <p class="soft small">{t('And {omitted} more.', { omitted: omitted.toLocaleString() })}</p>}
    </>
  )
}
