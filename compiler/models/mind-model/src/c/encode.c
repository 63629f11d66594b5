
/* State of the encoder. */
static struct bound enc_project_bound[ENC_LAYERS], enc_finish_bound[ENC_LAYERS];
#if ENC_HAS_EMBED
static struct bound enc_embed_bound;
#endif
#if ENC_HAS_CLOSE
static struct bound enc_close_bound;
#endif
#if READS_IMAGES
static struct bound enc_patches_bound;
#endif
#if READS_AUDIO
static struct bound enc_frames_bound, enc_pairs_bound;
static float *enc_rows;
#endif
#if ENC_DISTANCES
static float *enc_numbers, *enc_added;
#endif
static float *enc_x, *enc_queries, *enc_keys, *enc_values, *enc_narrow, *enc_whole;
static float enc_mixed[CHUNK * ENC_Q_WIDTH], enc_y[CHUNK * WIDTH];
static float *enc_cosines[3], *enc_sines[3];

#if ENC_HAS_EMBED || ENC_HAS_CLOSE
/* Replaces each row by the result of a stage. */
static void each_row(const struct stage *stage, const void *bound_weights, int passes)
{
    for (int pass = 0; pass < passes; ++pass) {
        float *rows = enc_x + (size_t)pass * CHUNK * WIDTH;
        const void *inputs[2] = {rows, bound_weights};
        void *outputs[1] = {enc_y};
        stage->many(inputs, outputs);
        memcpy(rows, enc_y, sizeof enc_y);
    }
}
#endif

/* Fills the attention mask of a pass: 0 for visible keys, and negative infinity elsewhere. Padding queries see the
   keys of the last token. A window of 0 means no window. */
static void fill_mask(float *mask, int pass, int window, int count, int seen)
{
    for (int at = 0; at < CHUNK; ++at) {
        int own = pass * CHUNK + at < count ? pass * CHUNK + at : count - 1;
        for (int other = 0; other < seen; ++other) {
            int away = other < own ? own - other : other - own;
            uint32_t bits = other < count && (window == 0 || away < window) ? 0 : 0xff800000u;
            memcpy(&mask[(size_t)at * (size_t)seen + (size_t)other], &bits, 4);
        }
    }
}

/* Runs all layers over the rows of `count` positions in `enc_x`, in place. */
static void run_layers(int count)
{
    int passes = (count + CHUNK - 1) / CHUNK, choice = 0;
    while (enc_attention[choice].rows < count) {
        ++choice;
    }
    int seen = enc_attention[choice].rows;
    for (int at = 0; at < passes * CHUNK; ++at) {
        for (int turning = 0; turning < 3; ++turning) {
            rotation(turning, (uint32_t)at, enc_cosines[turning] + (size_t)at * PAIRS,
                enc_sines[turning] + (size_t)at * PAIRS);
        }
    }
    fill_mask(enc_whole, 0, 0, count, seen);
    for (int layer = 0; layer < ENC_LAYERS; ++layer) {
        const struct stage *project = &enc_project_stages[layer], *finish = &enc_finish_stages[layer];
        int turning = enc_layers[layer].turning, window = enc_layers[layer].window;
        for (int pass = 0; pass < passes; ++pass) {
            size_t row = (size_t)pass * CHUNK;
            const void *rotated[4] = {enc_x + row * WIDTH, enc_cosines[turning] + row * PAIRS,
                enc_sines[turning] + row * PAIRS, enc_project_bound[layer].one};
            const void *straight[2] = {enc_x + row * WIDTH, enc_project_bound[layer].one};
            void *projected[3] = {enc_queries + row * ENC_Q_WIDTH, enc_keys + row * ENC_KV_WIDTH,
                enc_values + row * ENC_KV_WIDTH};
            project->many(PAIRS > 0 ? rotated : straight, projected);
        }
        size_t unused = sizeof(float) * (size_t)(ENC_ROWS - count) * ENC_KV_WIDTH;
        memset(enc_keys + (size_t)count * ENC_KV_WIDTH, 0, unused);
        memset(enc_values + (size_t)count * ENC_KV_WIDTH, 0, unused);
        for (int pass = 0; pass < passes; ++pass) {
            size_t row = (size_t)pass * CHUNK;
            if (window > 0) {
                fill_mask(enc_narrow, pass, window, count, seen);
            }
            const void *looked[6] = {enc_queries + row * ENC_Q_WIDTH, enc_keys, enc_values,
                window > 0 ? enc_narrow : enc_whole, NULL, NULL};
#if ENC_DISTANCES
            fill_distances(&enc_distances, enc_numbers, enc_added, pass * CHUNK, CHUNK, seen);
            looked[4] = enc_added;
#endif
            void *found[1] = {enc_mixed};
            enc_attention[choice].many(looked, found);
            const void *behind[3] = {enc_x + row * WIDTH, enc_mixed, enc_finish_bound[layer].one};
            void *finished[1] = {enc_y};
            finish->many(behind, finished);
            memcpy(enc_x + row * WIDTH, enc_y, sizeof enc_y);
        }
    }
#if ENC_HAS_CLOSE
    each_row(&enc_close_stage, enc_close_bound.one, passes);
#endif
}

#if READS_IMAGES
/* Runs the model on an image, [channels, rows, columns]. */
static void encode(const float *pixels)
{
    static float patches[CHUNK * ENC_CHANNELS * ENC_PATCH * ENC_PATCH];
    int grid = ENC_IMAGE / ENC_PATCH, count = grid * grid;
    for (int start = 0; start < count; start += CHUNK) {
        float *to = patches;
        int rows = count - start < CHUNK ? count - start : CHUNK;
        memset(patches, 0, sizeof patches);
        for (int at = start; at < start + rows; ++at) {
            for (int line = 0; line < ENC_CHANNELS * ENC_PATCH; ++line) {
                int row = line / ENC_PATCH * ENC_IMAGE + at / grid * ENC_PATCH + line % ENC_PATCH;
                const float *from = pixels + (size_t)row * ENC_IMAGE + (size_t)(at % grid * ENC_PATCH);
                memcpy(to, from, ENC_PATCH * sizeof(float));
                to += ENC_PATCH;
            }
        }
        const void *inputs[2] = {patches, enc_patches_bound.one};
        void *outputs[1] = {enc_y};
        enc_patches_stage.many(inputs, outputs);
        for (int at = 0; at < rows; ++at) {
            float *row = enc_x + (size_t)(1 + start + at) * WIDTH;
            memcpy(row, enc_y + (size_t)at * WIDTH, WIDTH * sizeof(float));
            add_table_row(&enc_tables.positions, (uint64_t)(1 + start + at), row);
        }
    }
    token_row(&enc_tables, 0, 0, enc_x);
    run_layers(1 + count);
}
#elif READS_AUDIO
/* Returns element `at` of row `row` of `count` rows: rows are `wide` elements apart, the elements of a row `near`.
   Rows outside of the array are 0. */
static float number_of(const float *rows, int row, int count, int wide, int near, int at)
{
    return row < 0 || row >= count ? 0.0f : rows[(size_t)row * (size_t)wide + (size_t)at * (size_t)near];
}

/* Convolution with a kernel of three rows and stride `step` over `count` rows of `width` elements. */
static void project_rows(const struct stage *stage, const void *bound_weights, const float *rows, int count, int width,
    int wide, int near, int step, float *to)
{
    static float windows[CHUNK * 3 * (ENC_MEL_BINS > WIDTH ? ENC_MEL_BINS : WIDTH)];
    int made = (count + step - 1) / step;
    for (int start = 0; start < made; start += CHUNK) {
        int taken = made - start < CHUNK ? made - start : CHUNK;
        float *next = windows;
        memset(windows, 0, sizeof windows);
        for (int at = start; at < start + taken; ++at) {
            for (int element = 0; element < width; ++element) {
                for (int tap = -1; tap <= 1; ++tap) {
                    *next++ = number_of(rows, at * step + tap, count, wide, near, element);
                }
            }
        }
        const void *inputs[2] = {windows, bound_weights};
        void *outputs[1] = {enc_y};
        stage->many(inputs, outputs);
        memcpy(to + (size_t)start * WIDTH, enc_y, (size_t)taken * WIDTH * sizeof(float));
    }
}

/* Runs the model on audio features, [mel bins, frames]. */
static void encode(const float *features)
{
    int count = ENC_FRAMES / 2;
    project_rows(&enc_frames_stage, enc_frames_bound.one, features, ENC_FRAMES, ENC_MEL_BINS, 1, ENC_FRAMES, 1, enc_rows);
    project_rows(&enc_pairs_stage, enc_pairs_bound.one, enc_rows, ENC_FRAMES, WIDTH, WIDTH, 1, 2, enc_x);
    for (int at = 0; at < count; ++at) {
        add_table_row(&enc_tables.positions, (uint64_t)at, enc_x + (size_t)at * WIDTH);
    }
    run_layers(count);
}
#else
/* Runs the model on the tokens of a text. */
static void encode(const uint32_t *tokens, int count)
{
    uint64_t first = ENC_FIRST_POSITION, position = first;
    for (int at = 0; at < count; ++at) {
        int is_padding = ENC_POSITION_OFFSET > 0 && tokens[at] + 1 == ENC_POSITION_OFFSET;
        token_row(&enc_tables, tokens[at], is_padding ? first - 1 : position, enc_x + (size_t)at * WIDTH);
        position += !is_padding;
    }
#if ENC_HAS_EMBED
    each_row(&enc_embed_stage, enc_embed_bound.one, (count + CHUNK - 1) / CHUNK);
#endif
    run_layers(count);
}
#endif

/* Packs the weights of the encoder and allocates its arrays. */
static void bind_encoder(void)
{
    for (int layer = 0; layer < ENC_LAYERS; ++layer) {
        enc_project_bound[layer] = bound(&enc_project_stages[layer]);
        enc_finish_bound[layer] = bound(&enc_finish_stages[layer]);
    }
#if ENC_HAS_EMBED
    enc_embed_bound = bound(&enc_embed_stage);
#endif
#if ENC_HAS_CLOSE
    enc_close_bound = bound(&enc_close_stage);
#endif
#if READS_IMAGES
    enc_patches_bound = bound(&enc_patches_stage);
#endif
#if READS_AUDIO
    enc_frames_bound = bound(&enc_frames_stage);
    enc_pairs_bound = bound(&enc_pairs_stage);
    enc_rows = room(sizeof(float) * (uint64_t)ENC_FRAMES * WIDTH);
#endif
#if ENC_DISTANCES
    enc_numbers = distance_numbers(&enc_distances);
    enc_added = room(sizeof(float) * (uint64_t)enc_distances.heads * CHUNK * ENC_ROWS);
#endif
    enc_x = room(sizeof(float) * (uint64_t)ENC_ROWS * WIDTH);
    enc_queries = room(sizeof(float) * (uint64_t)ENC_ROWS * ENC_Q_WIDTH);
    enc_keys = room(sizeof(float) * (uint64_t)ENC_ROWS * ENC_KV_WIDTH);
    enc_values = room(sizeof(float) * (uint64_t)ENC_ROWS * ENC_KV_WIDTH);
    enc_narrow = room(sizeof(float) * (uint64_t)ENC_ROWS * CHUNK);
    enc_whole = room(sizeof(float) * (uint64_t)ENC_ROWS * CHUNK);
    for (int turning = 0; turning < 3; ++turning) {
        enc_cosines[turning] = room(sizeof(float) * (uint64_t)ENC_ROWS * PAIRS);
        enc_sines[turning] = room(sizeof(float) * (uint64_t)ENC_ROWS * PAIRS);
    }
}

/* Frees the encoder's memory. */
static void unbind_encoder(void)
{
    for (int layer = 0; layer < ENC_LAYERS; ++layer) {
        unbind(enc_project_bound[layer]);
        unbind(enc_finish_bound[layer]);
    }
#if ENC_HAS_EMBED
    unbind(enc_embed_bound);
#endif
#if ENC_HAS_CLOSE
    unbind(enc_close_bound);
#endif
#if READS_IMAGES
    unbind(enc_patches_bound);
#endif
#if READS_AUDIO
    unbind(enc_frames_bound);
    unbind(enc_pairs_bound);
    free(enc_rows);
#endif
#if ENC_DISTANCES
    free(enc_numbers);
    free(enc_added);
#endif
    float *arrays[] = {enc_x, enc_queries, enc_keys, enc_values, enc_narrow, enc_whole, enc_cosines[0], enc_cosines[1],
        enc_cosines[2], enc_sines[0], enc_sines[1], enc_sines[2]};
    for (size_t at = 0; at < sizeof arrays / sizeof arrays[0]; ++at) {
        free(arrays[at]);
    }
}
