import { useState } from 'preact/hooks'
import type { PersonRecords } from '../../api-types/console.ts'
import type { Person, PersonExport } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ActionMenu, type MenuItem } from '../shared/action-menu.tsx'
import { DescriptionItem, DescriptionList } from '../shared/description-list.tsx'
import { VERIFICATION_METHOD_NAMES } from '../shared/labels.ts'
import { saveFile } from '../shared/save-file.ts'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { Link, type Params } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { CorrectDialog } from './correct-dialog.tsx'
import { HeldData } from './held-data.tsx'
import { EraseDialog, HoldDialog, RestrictDialog } from './request-dialogs.tsx'

/** Enough to tell people apart; the first characters of IDs are a timestamp. */
const SHOWN_ID_CHARACTERS = 6

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
  if (!data) return <h1 class="waiting">{t('Person')}</h1>
  const isErased = data.status === 'erased'
  const dialogProps = { path, person: data, onClose: () => setDialog(undefined), onDone: showChange }
  return (
    <>
      <p>
        <Link to={context.pagePath('/people')}>{t('People')}</Link>
      </p>
      <div class="page-head">
        <h1>
          {personTitle(data)} <Badge state={data.status} />
        </h1>
        {!isErased && (
          <div class="row">
            <button type="button" class="primary" onClick={() => void show()}>
              {t('Show the data')}
            </button>
            <button type="button" onClick={() => setDialog('correct')}>
              {t('Correct##button')}
            </button>
            <ActionMenu label={t('More##menu')} groups={menuGroups(data)} />
          </div>
        )}
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
          {exportError && <Notice kind="bad">{exportError.message}</Notice>}
        </>
      )}
      {held && !isErased && <HeldData exported={held} />}
      <Records path={path} />
      {dialog === 'correct' && <CorrectDialog {...dialogProps} />}
      {dialog === 'restrict' && <RestrictDialog {...dialogProps} />}
      {dialog === 'hold' && <HoldDialog {...dialogProps} />}
      {dialog === 'erase' && <EraseDialog {...dialogProps} />}
    </>
  )

  function menuGroups({ status, legal_hold }: Person): MenuItem[][] {
    return [
      [
        { name: t('Download as HTML'), act: () => void download('html') },
        { name: t('Download as JSON'), act: () => void download('json') },
      ],
      [
        {
          name: status === 'restricted' ? t('Lift the restriction') : t('Restrict'),
          act: () => setDialog('restrict'),
        },
        {
          name: legal_hold === null ? t('Start a legal hold') : t('End the legal hold'),
          act: () => setDialog('hold'),
        },
      ],
      [{ name: t('Erase'), danger: true, disabled: legal_hold !== null, act: () => setDialog('erase') }],
    ]
  }

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

/** Names a person by their role and ID, because the name is shown only when the user asks for the data. */
function personTitle({ person_id, status, candidates, students, reviews }: Person): string {
  const id = `…${person_id.slice(-SHOWN_ID_CHARACTERS)}`
  if (status === 'erased') return t('Person {id}', { id })
  if (candidates[0]) return t('Candidate {id}', { id: candidates[0].external_candidate_id })
  if (students[0]) return t('Student {id}', { id: students[0].external_student_id })
  return reviews.length > 0 ? t('Reviewer {id}', { id }) : t('Person {id}', { id })
}

/** Links to the records of the person. The records remain after the erasure. */
function Records({ path }: { path: string }) {
  const context = useOrgContext()
  const { data, error } = useData<PersonRecords>(`${path}/records`)
  if (error) return <Notice kind="bad">{error.message}</Notice>
  return (
    <>
      <h2>{t('Candidacies')}</h2>
      <Table
        caption={t('Candidacies of the person')}
        rows={data?.candidacies}
        keyOf={({ candidate_id }) => candidate_id}
        empty={<p class="soft">{t('The person is not a candidate.')}</p>}
        columns={[
          {
            name: t('Job'),
            cell: ({ candidate_id, job_title, company_name }) => (
              <>
                <Link to={context.pagePath(`/candidates/${candidate_id}`)}>{job_title}</Link>
                <div class="soft small">{company_name}</div>
              </>
            ),
          },
          {
            name: t('Campaign'),
            cell: ({ campaign_id, campaign_name }) => (
              <Link to={context.pagePath(`/campaigns/${campaign_id}`)}>{campaign_name}</Link>
            ),
          },
          { name: t('Status'), cell: ({ status }) => status && <Badge state={status} /> },
          { name: t('Enrolled'), cell: ({ enrolled_at }) => <Time at={enrolled_at} /> },
          { name: t('Your ID'), cell: ({ external_candidate_id }) => external_candidate_id },
        ]}
      />
      <h2>{t('Verifications')}</h2>
      <Table
        caption={t('Verifications of the person, as student or reviewer')}
        rows={data?.verifications}
        keyOf={({ verification_id, role }) => `${verification_id} ${role}`}
        empty={<p class="soft">{t('The person is neither a student nor a reviewer.')}</p>}
        columns={[
          {
            name: t('Verification'),
            cell: ({ verification_id, skills }) => (
              <Link to={context.pagePath(`/verifications/${verification_id}`)}>
                {skills === 1 ? t('1 skill') : t('{count} skills', { count: skills })}
              </Link>
            ),
          },
          {
            name: t('Role'),
            cell: ({ role, external_student_id: studentId }) =>
              role === 'student' ? t('student {studentId}', { studentId: studentId ?? '' }) : t('reviewer'),
          },
          { name: t('Method'), cell: ({ method }) => (method ? VERIFICATION_METHOD_NAMES[method] : '–') },
          { name: t('Status'), cell: ({ status }) => <Badge state={status} /> },
          { name: t('Created'), cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
    </>
  )
}
