/** How Redis refuses what it is asked, in the words of its versions. */
export const REFUSALS: readonly string[] = [
  "OOM command not allowed when used memory > 'maxmemory'.",
  "READONLY You can't write against a read only replica.",
  'NOREPLICAS Not enough good replicas to write.',
  'MISCONF Redis is configured to save RDB snapshots, but it is currently not able to persist on disk.',
  "NOPERM this user has no permissions to run the 'evalsha' command",
  "ERR The user executing the script can't run this command or subcommand",
  'NOAUTH Authentication required.',
  'WRONGPASS invalid username-password pair or user is disabled.',
  'LOADING Redis is loading the dataset in memory',
  'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  'CLUSTERDOWN The cluster is down',
  'TRYAGAIN Multiple keys request during rehashing of slot',
  'WRONGTYPE Operation against a key holding the wrong kind of value',
  'NOSCRIPT No matching script. Please use EVAL.',
  "ERR unknown command 'evalsha', with args beginning with: ",
  'ERR max number of clients reached',
  'UNAVAILABLE a word that no version uses yet',
]

/** As version 6.2 words what was refused inside a script. */
export const inScript62 = (message: string): string =>
  `ERR Error running script (call to f_3a1): @user_script:1: @user_script: 1: -${message}`
