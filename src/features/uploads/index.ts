/** Uploads: recordings that operators bring from elsewhere, checked before they are kept. */
import type { Feature, Opened } from '../feature.ts'
import { UploadDesk } from './desk.ts'
import { uploadErrors } from './errors.ts'
import { adminUploads, type UploadPorts } from './routes.ts'
import { Uploads } from './store.ts'

const BYTES_MAX = 8 * 1_024 * 1_024

export const uploadApi = (ports: UploadPorts): Opened => ({
  routes: [(deps, gates) => adminUploads({ ...deps, ...ports }, gates)],
})

export const uploads: Feature = {
  name: 'uploads',
  errors: uploadErrors.table,
  bodies: { '/api/admin/uploads': BYTES_MAX },
  notExported: { uploads: 'recordings that operators have uploaded; the audit log has who' },
  open: ({ stores, world, market, library }) => {
    const store = new Uploads(stores.db, world, market.audit)
    library.add(store)
    return uploadApi({ uploads: store, uploadDesk: new UploadDesk({ uploads: store, bundled: library.bundled }) })
  },
}
