/** SQL expression of a value for columns with encrypted texts. It names the current data key, as the database requires, and has no text. */
export const EMPTY_SEALED_TEXT = `(select case when labelled then '\\x41545631'::bytea || decode(data_key_id, 'hex') else ''::bytea end
  from data_keys where status = 'active')`
