import { useState } from 'preact/hooks'
import type { Person, PersonExport } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { DescriptionItem, DescriptionList } from '../shared/description-list.tsx'
import { saveFile } from '../shared/save-file.ts'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { Link, type Params } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { CorrectDialog } from './correct-dialog.tsx'
import { HeldData } from './held-data.tsx'
import { EraseDialog, HoldDialog, RestrictDialog } from './request-dialogs.tsx'

type OpenDialog = 'correct' | 'restrict' | 'hold' | 'erase'

/** A person with their records and the actions on their data. Names and addresses are shown only when the user asks for them. */
export default function PersonPage({ params }: { params: Params }) {
  const context = useOrgContext()
  const path = context.apiPath(`/people/${params.person_id}`)
  const { data, error, reload } = useData<Person>(path)
  const [dialog, setDialog] = useState<OpenDialog>()
  const [done, setDone] = useState('')
  const [held, setHeld] = useState<PersonExport>()
  const [exportError, setExportError] = useState<ApiError>()
  if (error) return <Notice kind="bad">{error.message}</Notice>
  if (!data) return <h1 class="waiting">A person</h1>
  const isErased = data.status === 'erased'
  const dialogProps = { path, person: data, onClose: () => setDialog(undefined), onDone: showChange }
  return (
    <>
      <p>
        <Link to={context.pagePath('/people')}>{t('People')}</Link>
      </p>
      <div class="page-head">
        <h1>
          {t('Person')} <Badge state={data.status} />
        </h1>
      </div>
      {done && <Notice kind="good">{done}</Notice>}
      <DescriptionList>
        <DescriptionItem name="ID">
          <code>{data.person_id}</code>
        </DescriptionItem>
        <DescriptionItem name={t('Stored since')}>
          <Time at={data.created_at} />
        </DescriptionItem>
        {data.restricted_at && (
          <DescriptionItem name={t('Restricted since')}>
            <Time at={data.restricted_at} />
          </DescriptionItem>
        )}
        {data.erased_at && (
          <DescriptionItem name={t('Erased')}>
            <Time at={data.erased_at} />
          </DescriptionItem>
        )}
        <DescriptionItem name={t('Legal hold')}>{data.legal_hold ?? t('none')}</DescriptionItem>
      </DescriptionList>
      {isErased ? (
        <p class="soft">
          {t('All data that identifies the person is unreadable. The records below remain, without personal data.')}
        </p>
      ) : (
        <>
          {data.legal_hold !== null && (
            <Notice kind="wait">{t('The data must be kept. End the legal hold before you erase the person.')}</Notice>
          )}
          <div class="row">
            <button type="button" onClick={() => void show()}>
              {t('Show the data')}
            </button>
            <button type="button" onClick={() => void download('html')}>
              {t('Download as HTML')}
            </button>
            <button type="button" onClick={() => void download('json')}>
              {t('Download as JSON')}
            </button>
            <button type="button" onClick={() => setDialog('correct')}>
              {t('Correct##button')}
            </button>
            <button type="button" onClick={() => setDialog('restrict')}>
              {data.status === 'restricted' ? t('Lift the restriction') : t('Restrict')}
            </button>
            <button type="button" onClick={() => setDialog('hold')}>
              {data.legal_hold === null ? t('Start a legal hold') : t('End the legal hold')}
            </button>
            <button type="button" class="danger" disabled={data.legal_hold !== null} onClick={() => setDialog('erase')}>
              {t('Erase')}
            </button>
          </div>
          {exportError && <Notice kind="bad">{exportError.message}</Notice>}
        </>
      )}
      <Records person={data} />
      {held && !isErased && <HeldData exported={held} />}
      {dialog === 'correct' && <CorrectDialog {...dialogProps} />}
      {dialog === 'restrict' && <RestrictDialog {...dialogProps} />}
      {dialog === 'hold' && <HoldDialog {...dialogProps} />}
      {dialog === 'erase' && <EraseDialog {...dialogProps} />}
    </>
  )

  function showChange(message: string) {
    setHeld(undefined)
    setDone(message)
    void reload()
  }

  async function loadExport(format: 'json' | 'html'): Promise<PersonExport | undefined> {
    const response = await api<PersonExport>(`${path}/export?format=${format}`)
    setExportError(response.ok ? undefined : response.error)
    return response.ok ? response.data : undefined
  }

  async function show() {
    setHeld(await loadExport('json'))
  }

  async function download(format: 'json' | 'html') {
    const exported = await loadExport(format)
    if (!exported) return
    const [content, type] =
      format === 'html' ? [exported.html!, 'text/html'] : [JSON.stringify(exported, null, 2), 'application/json']
    saveFile(`${params.person_id}.${format}`, new Blob([content], { type }))
  }
}

/** Links to the records of the person. The records remain after the erasure. */
function Records({ person }: { person: Person }) {
  const context = useOrgContext()
  const { candidates, students, reviews } = person
  const verifications = [
    ...students.flatMap(({ external_student_id, verification_ids }) =>
      verification_ids.map((id) => ({
        id,
        role: t('student {studentId}', { studentId: external_student_id }),
      })),
    ),
    ...reviews.map(({ verification_id }) => ({ id: verification_id, role: t('reviewer') })),
  ]
  return (
    <>
      <h2>{t('Candidacies')}</h2>
      <Table
        caption={t('Candidacies of the person')}
        rows={candidates}
        keyOf={({ candidate_id }) => candidate_id}
        empty={<p class="soft">{t('The person is not a candidate.')}</p>}
        columns={[
          {
            name: t('Candidate'),
            cell: ({ candidate_id }) => (
              <Link to={context.pagePath(`/candidates/${candidate_id}`)}>{candidate_id}</Link>
            ),
          },
          { name: t('Your ID'), cell: ({ external_candidate_id }) => external_candidate_id },
          {
            name: t('Campaign'),
            cell: ({ campaign_id }) => <Link to={context.pagePath(`/campaigns/${campaign_id}`)}>{campaign_id}</Link>,
          },
        ]}
      />
      <h2>{t('Verifications')}</h2>
      <Table
        caption={t('Verifications of the person, as student or reviewer')}
        rows={verifications}
        keyOf={({ id, role }) => `${id} ${role}`}
        empty={<p class="soft">{t('The person is neither a student nor a reviewer.')}</p>}
        columns={[
          {
            name: t('Verification'),
            cell: ({ id }) => <Link to={context.pagePath(`/verifications/${id}`)}>{id}</Link>,
          },
          { name: t('Role'), cell: ({ role }) => role },
        ]}
      />
    </>
  )
}
