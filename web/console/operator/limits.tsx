import type { ActiveLimits } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useData } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'

const POLL_INTERVAL_MS = 3000

/** The keys in cooldown and the rate-limited IP addresses. */
export default function OperatorLimits() {
  const { data, error } = useData<ActiveLimits>('/operator/limits', { pollMs: POLL_INTERVAL_MS })
  return (
    <>
      <h1>{t('Active limits')}</h1>
      <p class="soft">{t('Keys and IP addresses that are currently rate limited. Limits expire automatically.')}</p>
      {error && <Notice kind="bad">{error.message}</Notice>}
      <h2>{t('Keys in cooldown')}</h2>
      <Table
        caption={t('Keys in cooldown')}
        rows={data?.cooldowns}
        keyOf={({ key_id }) => key_id}
        empty={<p class="soft">{t('No keys in cooldown.')}</p>}
        columns={[
          { name: t('Key'), cell: ({ key_id }) => <code>{key_id}</code> },
          {
            name: t('Organisation'),
            cell: ({ org_id }) => (
              <Link to={`/${org_id}/live/requests?failed=true`}>
                <code>{org_id}</code>
              </Link>
            ),
          },
          { name: t('Until'), cell: ({ until }) => <Time at={until} /> },
        ]}
      />
      <h2>{t('IP addresses')}</h2>
      <Table
        caption={t('Rate-limited IP addresses')}
        rows={data?.visitors}
        keyOf={({ address, rule }) => `${address} ${rule}`}
        empty={<p class="soft">{t('No IP addresses are limited.')}</p>}
        columns={[
          { name: t('IP address'), cell: ({ address }) => <code>{address}</code> },
          { name: t('Rule'), cell: ({ rule }) => rule },
          { name: t('Until'), cell: ({ until }) => <Time at={until} /> },
        ]}
      />
    </>
  )
}
