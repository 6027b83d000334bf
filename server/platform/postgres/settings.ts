import { port } from './socket.ts'

/** Name of the settings file, included after postgresql.conf and before local.conf, which belongs to the operator. */
export const settingsFile = 'attestry.conf'

/** Lines appended to postgresql.conf when the cluster is created. */
export const includeDirectives = `\ninclude_if_exists = '${settingsFile}'\ninclude_if_exists = 'local.conf'\n`

/** Content of the settings file, sized for a laptop that runs other programs, too. Durability settings (fsync, synchronous_commit) keep their defaults. */
export const settingsText = `# Overwritten at every start. Put your own settings into local.conf in this folder.
shared_buffers = 128MB
max_connections = 100
effective_cache_size = 1GB
random_page_cost = 1.1
jit = off
huge_pages = off

# Most reads are served from memory, so I/O workers would only be three more processes.
io_method = sync

# There are no replicas, which allows a smaller write-ahead log.
wal_level = minimal
max_wal_senders = 0
max_logical_replication_workers = 0
max_wal_size = 512MB

timezone = 'UTC'
log_timezone = 'UTC'

# Statement errors are sent to the client only, because statements may contain personal data.
log_min_messages = log
log_min_error_statement = panic
log_error_verbosity = terse
log_checkpoints = off
log_line_prefix = '%m [%p] '
`

/** Returns the settings that must not be overridden, as command-line arguments. */
export function fixedArguments(name: string, starter: string): string[] {
  const fixedSettings = {
    listen_addresses: '',
    // The socket folder is relative to the data folder, so that the length of its path does not matter.
    unix_socket_directories: '.',
    unix_socket_permissions: '0700',
    port: String(port),
    logging_collector: 'off',
    // Part of every process title, which identifies the processes of the cluster.
    cluster_name: name,
    update_process_title: 'on',
    // The process that started this postmaster; read by processes that connect.
    'attestry.starter': starter,
  }
  return Object.entries(fixedSettings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
