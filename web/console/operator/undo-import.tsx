import { useEffect, useState } from 'preact/hooks'
import type { CatalogueImport, ImportUndoEffects } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { api } from '../shell/api.ts'

interface Props {
  row: CatalogueImport
  onClose: () => void
  onUndone: () => void
}

/** Undoes an import: the operator reads the effects, and confirms them. */
export function UndoImport({ row, onClose, onUndone }: Props) {
  const [effects, setEffects] = useState<ImportUndoEffects>()
  const [error, setError] = useState<string>()
  const [busy, setBusy] = useState(false)
  const path = `/operator/catalogue/imports/${row.import_id}/undo`
  useEffect(() => {
    void loadEffects()
  }, [path])
  return (
    <Dialog title={t('Undo the import of {file}', { file: row.file_name || row.format })} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void undo(event)}>
        {error && <Notice kind="bad">{error}</Notice>}
        {!effects && !error && <p class="soft">{t('Counting…')}</p>}
        {effects && (
          <section class="stack-tight" aria-label={t('Effects of the undo')}>
            <ul>
              {effectTexts(effects).map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
            {effects.first_renamed.length > 0 && (
              <>
                <h3>{t('Names that go back')}</h3>
                <ul>
                  {effects.first_renamed.map(({ skill_id, name, restored_name }) => (
                    <li key={skill_id}>
                      {name} → {restored_name} <span class="soft small">{skill_id}</span>
                    </li>
                  ))}
                </ul>
              </>
            )}
            {effects.first_skills_in_use.length > 0 && (
              <>
                <h3>{t('Skills in use, which stay usable by their ID')}</h3>
                <ul>
                  {effects.first_skills_in_use.map(({ skill_id, name }) => (
                    <li key={skill_id}>
                      {name} <span class="soft small">{skill_id}</span>
                    </li>
                  ))}
                </ul>
              </>
            )}
          </section>
        )}
        <SubmitButton class="primary" busy={busy} ready={Boolean(effects)}>
          {t('Undo the import')}
        </SubmitButton>
      </form>
    </Dialog>
  )

  async function loadEffects() {
    const response = await api<ImportUndoEffects>(path)
    if (response.ok) setEffects(response.data)
    else setError(response.error.message)
  }

  async function undo(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api<ImportUndoEffects>(path, { body: {} })
    setBusy(false)
    if (!response.ok) return setError(response.error.message)
    onUndone()
  }
}

function effectTexts(effects: ImportUndoEffects): string[] {
  const count = (value: number) => value.toLocaleString(displayLocale())
  const { records } = effects
  return [
    t('Added skills that can no longer be found by search: {count}. Their IDs stay valid.', {
      count: count(effects.withdrawn_skills),
    }),
    t(
      'Of these in use: {count}. Jobs: {mandates}, verifications: {sessions}, endorsements: {endorsements}, credentials: {credentials}, questions: {questions}, selections: {selections}.',
      {
        count: count(effects.skills_in_use),
        mandates: count(records.mandates),
        sessions: count(records.sessions),
        endorsements: count(records.endorsements),
        credentials: count(records.credentials),
        questions: count(records.questions),
        selections: count(records.selected_skills),
      },
    ),
    ...(effects.kept_skills > 0
      ? [
          t('Added skills that stay, because they have another source since: {count}', {
            count: count(effects.kept_skills),
          }),
        ]
      : []),
    t(
      'Skills that get back previous values: {count}. Names: {names}, aliases: {aliases}, categories: {categories}, descriptions: {descriptions}.',
      {
        count: count(effects.restored_skills),
        names: count(effects.restored_names),
        aliases: count(effects.restored_aliases),
        categories: count(effects.restored_places),
        descriptions: count(effects.restored_descriptions),
      },
    ),
    t(
      'Added sub-skills and master skills, which are then listed only while they contain skills: {added}. Others that get back previous values: {changed}.',
      {
        added: count(effects.withdrawn_groups),
        changed: count(effects.restored_groups),
      },
    ),
    t('Changes that operators made since are kept. Importing the file again gives the skills the same IDs.'),
  ]
}
