import { useState } from 'preact/hooks'
import type { Credential, RevokeCredentialInput } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Day } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { api } from '../shell/api.ts'
import { useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { METHOD_NAMES, REASON_NAMES, STATUS_NAMES } from './labels.ts'
import { CredentialSettings } from './settings.tsx'

type RevocationReason = RevokeCredentialInput['reason']

const REASONS: RevocationReason[] = ['issued_in_error', 'endorsement_withdrawn', 'evidence_wrong', 'other']

/** The credentials that the organisation has issued, and for owners the policy and the keys. */
export default function Credentials() {
  const context = useOrgContext()
  const { query } = useAddress()
  const filter = new URLSearchParams()
  for (const name of ['status', 'external_candidate_id']) {
    const value = query.get(name)
    if (value) filter.set(name, value)
  }
  const path = context.apiPath('/credentials')
  const list = useList<Credential>(filter.size > 0 ? `${path}?${filter}` : path)
  const [revoking, setRevoking] = useState<Credential>()
  const [reason, setReason] = useState<RevocationReason>('issued_in_error')
  return (
    <>
      <h1>{t('Credentials')}</h1>
      <p class="soft">
        {t(
          'Candidates and students choose whether they want a credential for a verified skill. Anyone who has its link can check it.',
        )}
      </p>
      <div class="row filters">
        <label>
          {t('Status')}
          <select
            value={query.get('status') ?? ''}
            onChange={(event) => setQuery({ status: event.currentTarget.value })}
          >
            <option value="">{t('All statuses')}</option>
            {Object.entries(STATUS_NAMES).map(([status, name]) => (
              <option key={status} value={status}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          {t('External ID')}
          <input
            type="search"
            value={query.get('external_candidate_id') ?? ''}
            onChange={(event) => setQuery({ external_candidate_id: event.currentTarget.value.trim() })}
          />
        </label>
      </div>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Credentials, newest first')}
        rows={list.items}
        keyOf={({ credential_id }) => credential_id}
        loadMore={list.more}
        loading={list.loading}
        empty={
          filter.size > 0 ? (
            <p class="soft">{t('No credential matches this filter.')}</p>
          ) : (
            <>
              <h2>{t('No credentials yet')}</h2>
              <p class="soft">
                {t(
                  'At the end of a conversation or a verification, people are offered a credential for each verified skill.',
                )}
              </p>
            </>
          )
        }
        columns={[
          { name: t('Skill'), cell: ({ skill, url }) => <a href={url}>{skill.name}</a> },
          {
            name: t('Status'),
            cell: ({ status, revocation_reason }) => (
              <>
                <Badge state={status} />
                {revocation_reason && <div class="soft small">{REASON_NAMES[revocation_reason]}</div>}
              </>
            ),
          },
          { name: t('Method'), cell: ({ method }) => METHOD_NAMES[method] },
          {
            name: t('Person'),
            cell: ({ external_candidate_id, candidate_id, verification_id }) => (
              <>
                <Link
                  to={context.pagePath(
                    candidate_id ? `/candidates/${candidate_id}` : `/verifications/${verification_id}`,
                  )}
                >
                  {external_candidate_id ?? t('Erased person')}
                </Link>
                <div class="soft small">{candidate_id ? t('Candidate') : t('Student')}</div>
              </>
            ),
          },
          { name: t('Issued'), cell: ({ issued_at }) => <Day of={issued_at} /> },
          { name: t('Valid until'), cell: ({ valid_until }) => <Day of={valid_until} /> },
          ...(context.can('owner')
            ? [
                {
                  name: t('Actions'),
                  cell: (credential: Credential) =>
                    credential.status !== 'revoked' && (
                      <button type="button" class="plain flush" onClick={() => setRevoking(credential)}>
                        {t('Revoke')}
                      </button>
                    ),
                },
              ]
            : []),
        ]}
      />
      <CredentialSettings />
      {revoking && (
        <Confirm
          title={t('Revoke the credential for {name}?', { name: revoking.skill.name })}
          action={t('Revoke credential')}
          onClose={() => setRevoking(undefined)}
          act={() =>
            api(`${path}/${revoking.credential_id}/revoke`, { body: { reason } satisfies RevokeCredentialInput })
          }
          onDone={() => void list.reload()}
        >
          <p>{t('The page of the credential and every verifier show it as revoked at once. This cannot be undone.')}</p>
          <label>
            {t('Reason')}
            <select value={reason} onChange={(event) => setReason(event.currentTarget.value as RevocationReason)}>
              {REASONS.map((each) => (
                <option key={each} value={each}>
                  {REASON_NAMES[each]}
                </option>
              ))}
            </select>
          </label>
        </Confirm>
      )}
    </>
  )
}
