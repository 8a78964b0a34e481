/** Publish/subscribe between processes on whichever Redis there is. */
import { ClusterPubSub } from './pub-sub-cluster.ts'
import type { PubSubOptions } from './pub-sub-options.ts'
import { RedisPubSub } from './pub-sub-redis.ts'
import { isClusterAddress } from './redis-address.ts'

/** On one server, or sharded over a cluster. Throws when it cannot be reached. */
export const connectPubSub = (options: PubSubOptions): Promise<RedisPubSub | ClusterPubSub> =>
  (isClusterAddress(options.url) ? ClusterPubSub : RedisPubSub).connect(options)
