import { useRef, useState } from 'preact/hooks'
import type { ItemImport } from '../../api-types/partner.ts'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Table } from '../../ui/table.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useOrgContext } from '../shell/session.ts'
import './question-bank.css'

const MAX_SHOWN_ROWS = 100

/** Form to check a file of questions and to import it. Shows every error with its position. */
export function ImportForm({ onImported }: { onImported: () => void }) {
  const context = useOrgContext()
  const [file, setFile] = useState<File>()
  const [skillId, setSkillId] = useState('')
  const [outcome, setOutcome] = useState<ItemImport>()
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  return (
    <section class="stack" aria-label="Import">
      <form class="card item-import" aria-label="Import questions" onSubmit={(event) => event.preventDefault()}>
        <label>
          File: CSV, or QTI 3.0 as XML or ZIP (up to 8 MB)
          <input
            ref={input}
            type="file"
            accept=".csv,.xml,.zip"
            onChange={(event) => selectFile(event.currentTarget.files?.[0])}
          />
        </label>
        <label>
          Skill ID of questions that name no skill (optional)
          <input
            type="text"
            placeholder="sk_1001"
            value={skillId}
            onInput={(event) => setSkillId(event.currentTarget.value.trim())}
          />
        </label>
        <div class="row">
          <SubmitButton type="button" busy={busy} ready={Boolean(file)} onClick={() => void upload(true)}>
            Check file
          </SubmitButton>
          <SubmitButton
            type="button"
            class="primary"
            busy={busy}
            ready={Boolean(file)}
            onClick={() => void upload(false)}
          >
            Import
          </SubmitButton>
        </div>
      </form>
      {error && <ImportErrors error={error} />}
      {outcome && <ImportOutcome outcome={outcome} />}
    </section>
  )

  function selectFile(selected: File | undefined) {
    setFile(selected)
    setError(undefined)
    setOutcome(undefined)
  }

  async function upload(dryRun: boolean) {
    setBusy(true)
    const query = new URLSearchParams({
      file_name: file!.name.slice(-200),
      dry_run: String(dryRun),
      ...(skillId ? { skill_id: skillId } : {}),
    })
    const response = await api<ItemImport>(context.apiPath(`/items/upload?${query}`), { file: file! })
    setBusy(false)
    setError(response.ok ? undefined : response.error)
    setOutcome(response.ok ? response.data : undefined)
    if (!response.ok || dryRun) return
    if (input.current) input.current.value = ''
    setFile(undefined)
    onImported()
  }
}

function ImportErrors({ error: { details, message } }: { error: ApiError }) {
  if (details.length === 0) return <Notice kind="bad">{message}</Notice>
  return (
    <>
      <Notice kind="bad">
        Nothing was imported: the file has {details.length.toLocaleString()} {details.length === 1 ? 'error' : 'errors'}
        . Correct the file and choose it again.
      </Notice>
      <Findings name="Errors" findings={details} />
    </>
  )
}

function ImportOutcome({ outcome }: { outcome: ItemImport }) {
  const { dry_run, added, replaced, updated, unchanged, pilot, warnings } = outcome
  const parts = [
    `${added.toLocaleString()} added`,
    `${replaced.toLocaleString()} replaced`,
    `${updated.toLocaleString()} updated`,
    `${unchanged.toLocaleString()} unchanged`,
  ]
  return (
    <>
      <Notice kind="good">
        {dry_run ? 'The file has no errors. An import would give: ' : 'Imported: '}
        {parts.join(', ')}.{' '}
        {pilot > 0 &&
          `${pilot.toLocaleString()} of them ${dry_run ? 'would start' : 'start'} as pilot questions, which are asked without being scored.`}
      </Notice>
      {warnings.length > 0 && (
        <>
          <p>
            {warnings.length.toLocaleString()} {warnings.length === 1 ? 'question looks' : 'findings look'} weak. You
            can improve {warnings.length === 1 ? 'it' : 'them'} and import the file again.
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
          { name: 'Position', cell: ({ path }) => path },
          { name: 'What to do', cell: ({ message }) => message },
        ]}
      />
      {omitted > 0 && <p class="soft small">And {omitted.toLocaleString()} more.</p>}
    </>
  )
}
