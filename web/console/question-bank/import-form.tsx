import { useState } from 'preact/hooks'
import type { ItemImport } from '../../api-types/partner.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { FileImportForm, uploadParameters } from '../shared/file-import-form.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useOrgContext } from '../shell/session.ts'

const MAX_SHOWN_ROWS = 100
const SKILL_ID_EXAMPLE = 'sk_1001'

/** Form to check a file of questions and to import it. Shows every error with its position. */
export function ImportForm({ onImported }: { onImported: () => void }) {
  const context = useOrgContext()
  const [skillId, setSkillId] = useState('')
  const [outcome, setOutcome] = useState<ItemImport>()
  const [error, setError] = useState<ApiError>()
  return (
    <section class="stack" aria-label={t('Import')}>
      <FileImportForm<ItemImport>
        name={t('Import questions')}
        fileLabel={t('File: CSV, or QTI 3.0 as XML or ZIP (up to 8 MB)')}
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
          {t('Skill ID of questions that name no skill (optional)')}
          <input
            type="text"
            placeholder={SKILL_ID_EXAMPLE}
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
        {t('Nothing was imported.')}{' '}
        {details.length === 1 ? t('The file has 1 error.') : message.replace('; see `details`', '')}{' '}
        {t('Correct the file and choose it again.')}
      </Notice>
      <Findings name={t('Errors')} findings={details} />
    </>
  )
}

function ImportOutcome({ outcome }: { outcome: ItemImport }) {
  const { dry_run, added, replaced, updated, unchanged, pilot, warnings } = outcome
  const changes = [
    t('{count} added', { count: added.toLocaleString(displayLocale()) }),
    t('{count} replaced', { count: replaced.toLocaleString(displayLocale()) }),
    t('{count} updated', { count: updated.toLocaleString(displayLocale()) }),
    t('{count} unchanged', { count: unchanged.toLocaleString(displayLocale()) }),
  ].join(', ')
  return (
    <>
      <Notice kind="good">
        {t(dry_run ? 'The file has no errors. An import would give: {changes}.' : 'Imported: {changes}.', { changes })}{' '}
        {pilot > 0 &&
          t(
            dry_run
              ? '{count} of them would start as pilot questions, which are asked without being scored.'
              : '{count} of them start as pilot questions, which are asked without being scored.',
            { count: pilot.toLocaleString(displayLocale()) },
          )}
      </Notice>
      {warnings.length > 0 && (
        <>
          <p>
            {t(
              warnings.length === 1
                ? '1 question looks weak. You can improve it and import the file again.'
                : '{count} findings look weak. You can improve them and import the file again.',
              { count: warnings.length.toLocaleString(displayLocale()) },
            )}
          </p>
          <Findings name={t('Warnings')} findings={warnings} />
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
      {omitted > 0 && (
        <p class="soft small">{t('And {count} more.', { count: omitted.toLocaleString(displayLocale()) })}</p>
      )}
    </>
  )
}
