import { useState } from 'preact/hooks'
import type { Workflow } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { ReadOnly } from '../shared/created-via.tsx'
import { DescriptionItem, DescriptionList } from '../shared/description-list.tsx'
import { CHANNEL_NAMES, LANGUAGE_NAMES, METHOD_LABELS } from '../shared/labels.ts'
import { api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { Link, type Params, ParentLink } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { channelSequence } from './channel-sequence.ts'

export default function WorkflowPage({ params }: { params: Params }) {
  const context = useOrgContext()
  const path = context.apiPath(`/workflows/${params.workflow_id}`)
  const { data, error, reload } = useData<Workflow>(path)
  const [archiving, setArchiving] = useState(false)
  const parentLink = <ParentLink to={context.pagePath('/workflows')}>{t('Workflows')}</ParentLink>
  if (error) {
    return (
      <>
        <p>{parentLink}</p>
        <Notice kind="bad">{error.message}</Notice>
      </>
    )
  }
  const editable = data?.created_via === 'playground' && data.status === 'active' && context.can('recruiter')
  return (
    <>
      <p>{parentLink}</p>
      <div class="page-head">
        <h1>
          {data ? data.name : <span class="waiting">Workflow</span>} {data && <Badge state={data.status} />}
        </h1>
        {data && context.can('recruiter') && (
          <div class="row">
            {data.status === 'active' && (
              <Link class="button primary" to={context.pagePath(`/mandates/new?workflow_id=${data.workflow_id}`)}>
                {t('New job')}
              </Link>
            )}
            {editable && (
              <>
                <Link class="button" to={context.pagePath(`/workflows/${data.workflow_id}/edit`)}>
                  {t('Edit')}
                </Link>
                <button type="button" onClick={() => setArchiving(true)}>
                  {t('Archive')}
                </button>
              </>
            )}
          </div>
        )}
      </div>
      {data?.created_via === 'api' && <ReadOnly noun={t('workflow')} />}
      {data && (
        <>
          {data.description && <p>{data.description}</p>}
          <DescriptionList>
            <DescriptionItem name={t('Questions')}>
              {data.default_methods
                .map((method) => `${METHOD_LABELS[method].name}: ${METHOD_LABELS[method].description}`)
                .join('; ')}
            </DescriptionItem>
            <DescriptionItem name={t('Channels')}>{channelSequence(data.channels)}</DescriptionItem>
            <DescriptionItem name={t('Languages')}>
              {data.languages.map((language) => LANGUAGE_NAMES[language]).join(', ')}
            </DescriptionItem>
            <DescriptionItem name={t('Follow-ups')}>
              {data.follow_ups.length === 0
                ? t('None: candidates who do not answer the first message are not contacted again')
                : data.follow_ups
                    .map(({ after_hours, channel }) =>
                      t('after {hours} h via {channel}', {
                        hours: after_hours,
                        channel: CHANNEL_NAMES[channel],
                      }),
                    )
                    .join(', ')}
            </DescriptionItem>
            <DescriptionItem name={t('Jobs')}>
              <Link class="number-link" to={context.pagePath(`/mandates?workflow_id=${data.workflow_id}`)}>
                {data.mandates}
              </Link>
            </DescriptionItem>
            <DescriptionItem name="ID">
              <code>{data.workflow_id}</code>
            </DescriptionItem>
            <DescriptionItem name={t('Created')}>
              <Time at={data.created_at} />
            </DescriptionItem>
            <DescriptionItem name={t('Updated')}>
              <Time at={data.updated_at} />
            </DescriptionItem>
          </DescriptionList>
        </>
      )}
      {archiving && data && (
        <Confirm
          title={t('Archive “{name}”?', { name: data.name })}
          action={t('Archive workflow')}
          onClose={() => setArchiving(false)}
          act={() => api(path, { method: 'DELETE' })}
          onDone={() => void reload()}
        >
          <p>{t('No new job can use this workflow. Nothing is deleted, but archiving cannot be undone.')}</p>
        </Confirm>
      )}
    </>
  )
}
