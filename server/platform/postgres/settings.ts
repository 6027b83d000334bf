import { port } from './socket.ts'

/** Read after PostgreSQL's own file and before local.conf, which is for the operator. */
export const settingsFile = 'attestry.conf'

/** To be added to postgresql.conf once. */
export const includes = `\ninclude_if_exists = '${settingsFile}'\ninclude_if_exists = 'local.conf'\n`

/** Sized for a laptop that does other things too. Durability (fsync, synchronous_commit) stays as PostgreSQL has it. */
export const settings = `# Written anew at every start. Settings of your own belong into local.conf beside this file.
shared_buffers = 128MB
max_connections = 100
effective_cache_size = 1GB
random_page_cost = 1.1
jit = off
huge_pages = off

# Reads are few and mostly from memory: workers for them would only be three more processes.
io_method = sync

# No replicas: less is written ahead.
wal_level = minimal
max_wal_senders = 0
max_logical_replication_workers = 0
max_wal_size = 512MB

timezone = 'UTC'
log_timezone = 'UTC'

# Errors of statements go to the client alone: their texts may hold personal data.
log_min_messages = log
log_min_error_statement = panic
log_error_verbosity = terse
log_checkpoints = off
log_line_prefix = '%m [%p] '
`

/** What nothing may overrule, as arguments. */
export function fixedArguments(name: string, starter: string): string[] {
  const fixed = {
    listen_addresses: '',
    // Relative to the data folder, so that its length does not matter.
    unix_socket_directories: '.',
    unix_socket_permissions: '0700',
    port: String(port),
    logging_collector: 'off',
    // In every process's title, which is how they are recognised.
    cluster_name: name,
    update_process_title: 'on',
    // Read by those who connect: who started this postmaster.
    'attestry.starter': starter,
  }
  return Object.entries(fixed).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
